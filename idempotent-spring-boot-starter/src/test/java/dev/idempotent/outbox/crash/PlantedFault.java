package dev.idempotent.outbox.crash;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

import javax.sql.DataSource;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.ClaimedEvent;
import dev.idempotent.outbox.jdbc.ClaimedEvent.LockedRows;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.LaneQuery;
import dev.idempotent.outbox.jdbc.NewEvent;
import dev.idempotent.outbox.jdbc.QueuedEvent;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * What an implementation could do wrong on PostgreSQL, to show what the crash run finds.
 */
enum PlantedFault {

	NONE(null),

	/** Each session takes ids from a cache of its own. */
	CACHED_SEQUENCE(PlantedFault.DISORDER),

	/** Events are inserted before the lock that orders them is taken. */
	APPEND_BEFORE_LOCK(PlantedFault.DISORDER),

	/**
	 * The rest of a run is read by a later statement than its first row, in a lane of
	 * several keys: what commits meanwhile can be of a key whose earlier row was not yet
	 * visible, and is in front of that first row.
	 */
	RUN_BEHIND_HEAD(PlantedFault.DISORDER),

	/** All keys share a lane, which alone breaks nothing. */
	COLLIDING_LANES(null),

	/** A search begins behind a delivered row, whatever the key of the row found. */
	LOOK_BEHIND_ANY_KEY(PlantedFault.DISORDER),

	/** A settlement does not compare the attempts. */
	SETTLE_WITHOUT_TOKEN(null),

	/** Rows are published without being claimed. */
	PUBLISH_UNCLAIMED(null),

	/** The event of a handler is deleted once its transaction has committed. */
	DELETE_AFTER_COMMIT("repeated"),

	/**
	 * A handler that claims nothing takes the next event of a key whose first is locked.
	 */
	LOCK_BEHIND_HEAD(PlantedFault.DISORDER);

	private static final String DISORDER = "out of order";

	/**
	 * The lanes of a topic but for some bits.
	 */
	private static final long FEW_LANES = ~0xFF_FFFF_FFFEL;

	private final @Nullable String violation;

	PlantedFault(@Nullable String violation) {
		this.violation = violation;
	}

	/**
	 * The kind of violation that a run must find.
	 * @return {@code null} if the fault only repeats events
	 */
	@Nullable String violation() {
		return this.violation;
	}

	EventTable plant(DataSource dataSource, String tablePrefix, PayloadEncryption encryption) {
		JdbcClient database = JdbcClient.create(dataSource);
		return new EventTable(new OwnTransactions(dataSource), tablePrefix, encryption) {

			private final Map<Long, SerializedEvent> delivered = new ConcurrentHashMap<>();

			@Override
			public List<Row> append(List<NewEvent> events) {
				return switch (PlantedFault.this) {
					case CACHED_SEQUENCE -> super.append(events).stream()
						.map((row) -> new Row(row.lane(), renumber(row), row.topic()))
						.toList();
					case COLLIDING_LANES, LOOK_BEHIND_ANY_KEY ->
						super.append(events).stream().map(this::collide).toList();
					case RUN_BEHIND_HEAD -> events.stream().map(this::appendOne).toList();
					default -> super.append(events);
				};
			}

			/**
			 * Lets other transactions have rows between the rows of this one.
			 */
			private Row appendOne(NewEvent event) {
				Row row = collide(super.append(List.of(event)).get(0));
				widen();
				return row;
			}

			private long renumber(Row row) {
				return database
					.sql("update outbox_event set id = nextval('crash_ids') where lane = ? and id = ? "
							+ "returning id")
					.params(row.lane(), row.id())
					.query(Long.class)
					.single();
			}

			private Row collide(Row row) {
				database.sql("update outbox_event set lane = lane & ? where lane = ? and id = ?")
					.params(FEW_LANES, row.lane(), row.id())
					.update();
				return new Row(row.lane() & FEW_LANES, row.id(), row.topic());
			}

			@Override
			public List<QueuedEvent> heads(List<LaneQuery> looks, int limit) {
				if (PlantedFault.this == LOOK_BEHIND_ANY_KEY) {
					return super.heads(looks, limit).stream().map((head) -> disguised(head, looks)).toList();
				}
				if (PlantedFault.this == LOCK_BEHIND_HEAD) {
					return super.heads(looks, limit).stream().flatMap((head) -> unlocked(head).stream()).toList();
				}
				if (PlantedFault.this != RUN_BEHIND_HEAD || limit == 1) {
					return super.heads(looks, limit);
				}
				List<QueuedEvent> heads = new ArrayList<>(super.heads(looks, 1));
				widen();
				heads.addAll(super.heads(heads.stream().map((head) -> new LaneQuery(head.lane(), head.id())).toList(),
						limit - 1));
				return heads;
			}

			private List<QueuedEvent> unlocked(QueuedEvent head) {
				boolean locked = head.attempts() == 0 && head.traced();
				return locked ? super.heads(List.of(new LaneQuery(head.lane(), head.id())), 1) : List.of(head);
			}

			/**
			 * The row as if it had the key of the last delivered one.
			 */
			private QueuedEvent disguised(QueuedEvent head, List<LaneQuery> looks) {
				SerializedEvent last = this.delivered.get(head.lane());
				boolean behind = looks.stream().anyMatch((look) -> look.lane() == head.lane() && look.above() > 0);
				return (last == null || !behind) ? head
						: new QueuedEvent(head.lane(), head.id(), head.attempts(), head.topic(), last.key(),
								head.bytes(), head.due(), head.interrupted(), head.isNew(), head.traced(),
								head.epoch());
			}

			@Override
			public List<ClaimedEvent> claim(List<QueuedEvent> heads, Duration lease, int attempts) {
				return super.claim(heads, (PlantedFault.this == PUBLISH_UNCLAIMED) ? Duration.ofSeconds(-1) : lease,
						attempts);
			}

			@Override
			public int delete(List<ClaimedEvent> claims) {
				int deleted = super.delete(claims);
				claims.stream()
					.filter((claim) -> claim.event().key() != null)
					.forEach((claim) -> this.delivered.put(claim.lane(), claim.event()));
				if (PlantedFault.this == SETTLE_WITHOUT_TOKEN || PlantedFault.this == PUBLISH_UNCLAIMED) {
					claims.forEach((claim) -> database.sql("delete from outbox_event where lane = ? and id = ?")
						.params(claim.lane(), claim.event().sequence())
						.update());
				}
				return deleted;
			}

			@Override
			public @Nullable Object lockInTransaction(ClaimedEvent claim, Duration longest) {
				if (PlantedFault.this == DELETE_AFTER_COMMIT) {
					TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void afterCommit() {
							delete(List.of(claim));
						}

					});
				}
				return super.lockInTransaction(claim, longest);
			}

			@Override
			public @Nullable LockedRows lockUnclaimed(QueuedEvent head, Duration longest) {
				LockedRows lock = super.lockUnclaimed(head, longest);
				if (lock != null && PlantedFault.this == DELETE_AFTER_COMMIT) {
					TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void afterCommit() {
							delete(claim(List.of(head), Duration.ofSeconds(30), 10));
						}

					});
				}
				return lock;
			}

			@Override
			public boolean deleteInTransaction(ClaimedEvent claim, Object lock) {
				return PlantedFault.this == DELETE_AFTER_COMMIT || super.deleteInTransaction(claim, lock);
			}

		};
	}

	/**
	 * Makes a window wider that is there anyway.
	 */
	private static void widen() {
		try {
			Thread.sleep(ThreadLocalRandom.current().nextInt(100));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
