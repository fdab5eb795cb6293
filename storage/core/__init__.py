"""Tables, connection pools, job transactions, receipts and the schema migration."""
