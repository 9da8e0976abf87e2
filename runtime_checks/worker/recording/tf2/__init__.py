"""The TF2 side: fresh models are made, called, trained and listened to."""
