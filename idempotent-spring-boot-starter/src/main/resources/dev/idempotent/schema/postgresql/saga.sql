create table if not exists saga_instance (
	id varchar(64) not null primary key,
	name varchar(255) not null,
	status varchar(20) not null,
	halted_in varchar(20),
	epoch bigint not null,
	steps integer not null,
	owner varchar(255),
	due_at timestamp(6) with time zone,
	deadline timestamp(6) with time zone not null,
	attempts integer not null,
	unfit integer default 0 not null,
	fingerprint_version integer not null,
	fingerprint_digest varchar(64) not null,
	arguments bytea,
	result bytea,
	reason varchar(1000),
	halt_reason varchar(1000),
	waits_for varchar(100),
	traceparent varchar(55),
	created_at timestamp(6) with time zone not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

create index if not exists saga_instance_due_at on saga_instance (status, due_at);

create index if not exists saga_instance_due_at_by_name on saga_instance (status, name, due_at);

create table if not exists saga_step (
	saga_id varchar(64) not null,
	seq integer not null,
	name varchar(100) not null,
	kind varchar(30) not null,
	state varchar(20) not null,
	result bytea,
	reason varchar(1000),
	note varchar(1000),
	refused_undos integer default 0 not null,
	call_identity varchar(300),
	begun_at timestamp(6) with time zone not null,
	compensating_at timestamp(6) with time zone,
	ended_at timestamp(6) with time zone,
	primary key (saga_id, seq)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

create table if not exists saga_signal (
	saga_id varchar(64) not null,
	name varchar(100) not null,
	state varchar(20) not null,
	content bytea,
	fingerprint_version integer,
	fingerprint_digest varchar(64),
	generation bigint,
	changed_at timestamp(6) with time zone not null,
	expires_at timestamp(6) with time zone not null,
	primary key (saga_id, name)
);

create index if not exists saga_signal_expires_at on saga_signal (expires_at);
