"""From a question to a cited answer, without a model or with one."""
