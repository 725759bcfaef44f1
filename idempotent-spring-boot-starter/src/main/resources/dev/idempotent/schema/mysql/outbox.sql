create table if not exists outbox_event (
	lane bigint not null default (floor(rand() * 1099511627776)),
	id bigint not null auto_increment,
	event_id char(36) character set ascii collate ascii_bin not null,
	topic varchar(255) not null,
	event_key varchar(255),
	type varchar(255) not null,
	content_type varchar(255) not null default 'application/json',
	payload longblob not null,
	headers longtext not null default ('{}'),
	attempts integer not null default 0,
	due_at datetime(6),
	created_at datetime(6) not null default (utc_timestamp(6)),
	last_error varchar(1000),
	primary key (lane, id),
	unique key outbox_event_id (id)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;

create table if not exists outbox_delayed (
	id bigint auto_increment primary key,
	lane bigint not null,
	event_id char(36) character set ascii collate ascii_bin not null,
	topic varchar(255) not null,
	event_key varchar(255),
	type varchar(255) not null,
	content_type varchar(255) not null,
	payload longblob not null,
	headers longtext not null,
	due_at datetime(6) not null,
	created_at datetime(6) not null default (utc_timestamp(6)),
	index outbox_delayed_due_at (due_at)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;

create table if not exists outbox_dead (
	id bigint auto_increment primary key,
	lane bigint not null,
	sequence bigint not null,
	event_id char(36) character set ascii collate ascii_bin not null,
	topic varchar(255) not null,
	event_key varchar(255),
	type varchar(255) not null,
	content_type varchar(255) not null,
	payload longblob not null,
	headers longtext not null,
	attempts integer not null,
	created_at datetime(6) not null,
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

create table if not exists outbox_deployment (
	namespace varchar(255) not null,
	attribute varchar(100) not null,
	content varchar(1000) not null,
	primary key (namespace, attribute)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;
