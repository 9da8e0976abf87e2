"""The static side: from paths to findings, without importing what it lints."""
