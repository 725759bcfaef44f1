package dev.idempotent.outbox.engine;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.engine.EventTable.Dialect;
import dev.idempotent.outbox.engine.OutboxEngine.Connector;
import dev.idempotent.outbox.engine.OutboxEngine.Settings;

/**
 * What an implementation could do wrong, to show what the crash run finds.
 */
enum PlantedFault {

	NONE,

	/** Each session takes ids from a cache of its own. */
	CACHED_SEQUENCE,

	/** Events are inserted before the lock that orders them is taken. */
	APPEND_BEFORE_LOCK,

	/** The rest of a run is read by a later statement than its first row. */
	RUN_BEHIND_HEAD,

	/** A search begins behind a delivered row, whatever the key of the row found. */
	LOOK_BEHIND_ANY_KEY,

	/** A settlement does not compare the attempts. */
	SETTLE_WITHOUT_TOKEN,

	/** Rows are published without being claimed. */
	PUBLISH_UNCLAIMED;

	EventTable table(Dialect dialect) {
		return new EventTable(dialect) {

			@Override
			List<Head> heads(Connection connection, List<Look> looks, int limit) throws SQLException {
				if (PlantedFault.this != RUN_BEHIND_HEAD || limit == 1) {
					return super.heads(connection, looks, limit);
				}
				List<Head> heads = new ArrayList<>(super.heads(connection, looks, 1));
				widen();
				List<Look> rest = heads.stream().map((head) -> new Look(head.lane(), head.id())).toList();
				heads.addAll(super.heads(connection, rest, limit - 1));
				heads.sort(Head.ORDER);
				return heads;
			}

			@Override
			List<Claim> claim(Connection connection, List<Head> heads, Duration lease) throws SQLException {
				if (PlantedFault.this != PUBLISH_UNCLAIMED) {
					return super.claim(connection, heads, lease);
				}
				return new ArrayList<>(super.claim(connection, heads, Duration.ofSeconds(-1)).stream()
					.map((claim) -> new Claim(claim.lane(), claim.event().withRow(claim.id(), 1)))
					.toList());
			}

			@Override
			String token(String mine) {
				return (PlantedFault.this == SETTLE_WITHOUT_TOKEN || PlantedFault.this == PUBLISH_UNCLAIMED)
						? mine + " = " + mine : super.token(mine);
			}

		};
	}

	/** Makes a window wider that is there anyway. */
	private static void widen() {
		try {
			Thread.sleep(60);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	OutboxEngine engine(Dialect dialect, Connector connector, OutboxPublisher publisher, Settings settings) {
		return new OutboxEngine(table(dialect), connector, publisher, settings) {

			@Override
			Map<Long, SerializedEvent> behind(Map<Long, Long> lanes) {
				if (PlantedFault.this == LOOK_BEHIND_ANY_KEY) {
					lanes.replaceAll((lane, row) -> Long.MAX_VALUE);
				}
				return (PlantedFault.this == RUN_BEHIND_HEAD) ? Map.of() : super.behind(lanes);
			}

			@Override
			boolean follows(EventTable.Head row, SerializedEvent delivered) {
				return PlantedFault.this == LOOK_BEHIND_ANY_KEY || super.follows(row, delivered);
			}

		};
	}

}
