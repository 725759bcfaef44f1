create table if not exists orders (
  order_id   uuid        primary key,
  user_id    text        not null,
  item       text        not null,
  amount     integer     not null check (amount > 0),
  note       text,
  status     text        not null default 'CREATED' check (status in ('CREATED', 'PAID', 'REJECTED')),
  created_at timestamptz not null default now()
);
create index if not exists orders_by_user on orders (user_id, created_at);

create table if not exists payments (
  payment_id uuid        primary key,
  order_id   uuid        not null unique references orders,
  method     text        not null,
  created_at timestamptz not null default now()
);

-- The gateway's own book, one row per charge or refund: no constraint of ours holds there.
create table if not exists charges (
  charge_id  bigint      generated always as identity primary key,
  order_id   uuid        not null,
  approved   boolean     not null,
  created_at timestamptz not null default now()
);

create table if not exists refunds (
  refund_id  bigint      generated always as identity primary key,
  charge_id  bigint      not null references charges,
  created_at timestamptz not null default now()
);

create table if not exists feedback (
  feedback_id uuid        primary key,
  user_id     text        not null,
  text        text        not null,
  created_at  timestamptz not null default now()
);

-- Nothing here keeps a user from having two: that is the idempotency key's work.
create table if not exists vouchers (
  voucher_id uuid        primary key,
  user_id    text        not null,
  created_at timestamptz not null default now()
);

-- One row per event that was handled. Nothing here keeps an event from having two: that
-- is the idempotency key's work.
create table if not exists notification (
  notification_id bigint      generated always as identity primary key,
  event_id        uuid        not null,
  order_id        uuid        not null,
  type            text        not null,
  text            text        not null,
  created_at      timestamptz not null default now()
);
create index if not exists notification_by_event on notification (event_id);
create index if not exists notification_by_order on notification (order_id);

-- One row per delivery of an event, with or without effect.
create table if not exists delivery (
  delivery_id    bigint      generated always as identity primary key,
  event_id       uuid        not null,
  handled_before boolean     not null,
  created_at     timestamptz not null default now()
);
