"""Programs: questions answered by a plan of steps, each in the log before the next one."""
