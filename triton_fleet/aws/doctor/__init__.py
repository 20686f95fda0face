"""Why an endpoint does not answer: what AWS shows of it, compared with known symptoms."""
