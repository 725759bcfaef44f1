create table if not exists idempotency_record (
	key_digest varchar(64) not null primary key,
	token varchar(128) not null,
	fingerprint_version integer not null,
	fingerprint_digest varchar(64) not null,
	completed boolean not null,
	response binary large object,
	expires_at timestamp(6) with time zone not null
);

create index if not exists idempotency_record_expires_at on idempotency_record (expires_at);

create table if not exists idempotency_record_deployment (
	namespace varchar(255) not null,
	attribute varchar(100) not null,
	content varchar(1000) not null,
	primary key (namespace, attribute)
);
