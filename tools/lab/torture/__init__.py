"""Breaking a store on purpose, for as long as one likes, and seeing that nothing acknowledged is lost."""
