"""S3 as publishing needs it: moto's, made to compare checksums, to refuse as S3 does, and to stay small."""
