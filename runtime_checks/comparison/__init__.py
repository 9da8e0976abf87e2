"""Compares two recordings with numpy alone: which rungs hold, where the sides part first, and what may be the cause."""
