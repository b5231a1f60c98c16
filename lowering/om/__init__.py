"""Passes on the om dialect."""
