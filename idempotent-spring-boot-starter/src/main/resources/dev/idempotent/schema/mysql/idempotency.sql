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

create table if not exists idempotency_record_deployment (
	namespace varchar(255) not null,
	attribute varchar(100) not null,
	content varchar(1000) not null,
	primary key (namespace, attribute)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;
