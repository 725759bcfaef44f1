create table if not exists idempotency_record (
	key_digest varchar(64) character set ascii collate ascii_bin not null primary key,
	token varchar(128) character set ascii collate ascii_bin not null,
	fingerprint_version integer not null,
	fingerprint_digest varchar(64) character set ascii collate ascii_bin not null,
	completed boolean not null,
	response longblob,
	expires_at datetime(6) not null,
	index idempotency_record_expires_at (expires_at)
) engine = InnoDB;
