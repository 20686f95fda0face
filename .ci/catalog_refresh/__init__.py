"""Reads facts of the catalog from the installed packages of AWS and from saved lists."""
