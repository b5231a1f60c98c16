"""What tests of one's own folders need: the lit configuration."""
