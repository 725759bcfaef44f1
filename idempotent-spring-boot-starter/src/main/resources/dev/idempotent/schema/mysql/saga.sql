create table if not exists saga_instance (
	id varchar(64) character set ascii collate ascii_bin not null primary key,
	name varchar(255) not null,
	status varchar(20) character set ascii collate ascii_bin not null,
	halted_in varchar(20) character set ascii collate ascii_bin,
	epoch bigint not null,
	steps integer not null,
	owner varchar(255),
	due_at datetime(6),
	deadline datetime(6) not null,
	attempts integer not null,
	unfit integer default 0 not null,
	fingerprint_version integer not null,
	fingerprint_digest varchar(64) character set ascii collate ascii_bin not null,
	arguments longblob,
	result longblob,
	reason varchar(1000),
	halt_reason varchar(1000),
	waits_for varchar(100),
	traceparent varchar(55),
	created_at datetime(6) not null,
	index saga_instance_due_at (status, due_at),
	index saga_instance_due_at_by_name (status, name, due_at)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;

create table if not exists saga_step (
	saga_id varchar(64) character set ascii collate ascii_bin not null,
	seq integer not null,
	name varchar(100) not null,
	kind varchar(30) character set ascii collate ascii_bin not null,
	state varchar(20) character set ascii collate ascii_bin not null,
	result longblob,
	reason varchar(1000),
	note varchar(1000),
	refused_undos integer default 0 not null,
	call_identity varchar(300),
	begun_at datetime(6) not null,
	compensating_at datetime(6),
	ended_at datetime(6),
	primary key (saga_id, seq)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;

create table if not exists saga_signal (
	saga_id varchar(64) character set ascii collate ascii_bin not null,
	name varchar(100) not null,
	state varchar(20) character set ascii collate ascii_bin not null,
	content longblob,
	fingerprint_version integer,
	fingerprint_digest varchar(64) character set ascii collate ascii_bin,
	generation bigint,
	changed_at datetime(6) not null,
	expires_at datetime(6) not null,
	primary key (saga_id, name),
	index saga_signal_expires_at (expires_at)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin;
