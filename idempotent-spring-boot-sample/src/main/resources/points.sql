-- Nothing here keeps an order from having two: that is the idempotency key's work.
create table if not exists points_credit (
  credit_id  bigint      generated always as identity primary key,
  account    text        not null,
  order_id   uuid        not null,
  points     integer     not null,
  cancelled  boolean     not null default false,
  created_at timestamptz not null default now()
);
create index if not exists points_credit_by_account on points_credit (account);
create index if not exists points_credit_by_order on points_credit (order_id);
