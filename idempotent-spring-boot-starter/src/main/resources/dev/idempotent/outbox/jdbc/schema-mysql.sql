create table if not exists outbox_event (
	id bigint auto_increment primary key,
	event_id char(36) character set ascii collate ascii_bin not null,
	topic varchar(255) not null,
	event_key varchar(255),
	type varchar(255) not null,
	content_type varchar(255) not null default 'application/json',
	payload longblob not null,
	headers longtext not null default ('{}'),
	created_at datetime(6) not null default (utc_timestamp(6)),
	available_at datetime(6) not null default (utc_timestamp(6)),
	attempts integer not null default 0,
	claim_id char(36) character set ascii collate ascii_bin,
	claimed_by varchar(255),
	last_error varchar(1000)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;

create table if not exists outbox_ordered (
	id bigint auto_increment primary key,
	key_hash bigint not null,
	sequence bigint,
	event_id char(36) character set ascii collate ascii_bin not null,
	topic varchar(255) not null,
	event_key varchar(255) not null,
	type varchar(255) not null,
	content_type varchar(255) not null default 'application/json',
	payload longblob not null,
	headers longtext not null default ('{}'),
	created_at datetime(6) not null default (utc_timestamp(6)),
	available_at datetime(6) not null default (utc_timestamp(6)),
	attempts integer not null default 0,
	claim_id char(36) character set ascii collate ascii_bin,
	claimed_by varchar(255),
	last_error varchar(1000),
	index outbox_ordered_head (key_hash, id)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;

create table if not exists outbox_waiting (
	id bigint not null primary key,
	event_id char(36) character set ascii collate ascii_bin not null,
	topic varchar(255) not null,
	event_key varchar(255),
	type varchar(255) not null,
	content_type varchar(255) not null,
	payload longblob not null,
	headers longtext not null,
	created_at datetime(6) not null,
	available_at datetime(6) not null,
	attempts integer not null,
	claim_id char(36) character set ascii collate ascii_bin,
	claimed_by varchar(255),
	last_error varchar(1000),
	index outbox_waiting_available_at (available_at)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;

create table if not exists outbox_dead (
	id bigint auto_increment primary key,
	sequence bigint not null,
	key_hash bigint,
	event_id char(36) character set ascii collate ascii_bin not null,
	topic varchar(255) not null,
	event_key varchar(255),
	type varchar(255) not null,
	content_type varchar(255) not null,
	payload longblob not null,
	headers longtext not null,
	created_at datetime(6) not null,
	attempts integer not null,
	last_error varchar(1000),
	died_at datetime(6) not null default (utc_timestamp(6))
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;

create table if not exists outbox_control (
	topic varchar(255) not null primary key,
	paused_at datetime(6) not null default (utc_timestamp(6))
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;

create table if not exists outbox_transaction (
	id char(36) character set ascii collate ascii_bin not null primary key
) engine = InnoDB;
