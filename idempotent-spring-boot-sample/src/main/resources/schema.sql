create table if not exists orders (
  order_id   uuid        primary key,
  user_id    text        not null,
  item       text        not null,
  amount     integer     not null check (amount > 0),
  note       text,
  status     text        not null default 'CREATED'
             check (status in ('CREATED', 'PAID', 'SHIPPED', 'CANCELLED', 'REJECTED')),
  version    bigint      not null default 0,
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

-- Nothing here keeps an order from having two: that is the outbox's work.
create table if not exists parcel (
  parcel_id  bigint      generated always as identity primary key,
  order_id   uuid        not null references orders,
  created_at timestamptz not null default now()
);
create index if not exists parcel_by_order on parcel (order_id);

-- One row per attempt of a handler, with or without effect.
create table if not exists handler_attempt (
  attempt_id bigint      generated always as identity primary key,
  handler    text        not null,
  order_id   uuid        not null,
  created_at timestamptz not null default now()
);
create index if not exists handler_attempt_by_order on handler_attempt (order_id);

-- The flash sale. A unit is taken if and only if the row of a live reservation says so: both
-- change in one transaction, and the check keeps the count within the stock. Owners and
-- reservations have no foreign keys into the sale: each insert would lock a row that all
-- buyers share, to check what its own statement has just read there.
create table if not exists flash_sale (
  item       text        primary key,
  stock      integer     not null check (stock > 0),
  per_user   integer     not null check (per_user between 1 and 10),
  created_at timestamptz not null default now()
);

-- The stock of a sale, spread over several rows, so that buyers do not wait for one another.
create table if not exists stock_shelf (
  item    text    not null references flash_sale,
  shelf   integer not null,
  total   integer not null,
  taken   integer not null default 0,
  version bigint  not null default 1,
  primary key (item, shelf),
  check (taken between 0 and total)
) with (fillfactor = 50);

-- The live reservations of each user. Rows stay when there are none, so that versions grow.
create table if not exists stock_owner (
  item       text        not null,
  owner      text        not null,
  ids        text[]      not null,
  version    bigint      not null default 1,
  changed_at timestamptz not null default now(),
  primary key (item, owner)
);
create index if not exists stock_owner_by_change on stock_owner (item, changed_at);

create table if not exists reservation (
  reservation_id text        primary key,
  item           text        not null,
  owner          text        not null,
  shelf          integer     not null,
  state          text        not null default 'HELD' check (state in ('HELD', 'CONFIRMED', 'ENDED')),
  expires_at     timestamptz not null,
  order_id       uuid        unique references orders,
  check ((state = 'CONFIRMED') = (order_id is not null))
);
create index if not exists reservation_by_item on reservation (item);
create index if not exists reservation_by_expiry on reservation (expires_at) where state = 'HELD';

-- The stock of the naive sale: one row that all buyers update.
create table if not exists naive_stock (
  item  text    primary key references flash_sale,
  stock integer not null check (stock >= 0)
);
