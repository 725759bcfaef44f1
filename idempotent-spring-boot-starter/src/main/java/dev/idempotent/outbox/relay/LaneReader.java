package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.LaneQuery;
import dev.idempotent.outbox.jdbc.QueuedEvent;
import dev.idempotent.outbox.relay.LaneQueue.LaneSignal;

/**
 * Reads the first rows of lanes. Remembers the event that each lane delivered last and
 * looks behind it, because a search from the first row would read deleted rows that an
 * old snapshot keeps.
 */
final class LaneReader {

	private final EventTable table;

	private final Map<Long, LastDelivered> lastDelivered;

	LaneReader(EventTable table, int remembered) {
		this.table = table;
		this.lastDelivered = new LinkedHashMap<>(16, 0.75F, true) {

			@Override
			protected boolean removeEldestEntry(Map.Entry<Long, LastDelivered> eldest) {
				return size() > remembered;
			}

		};
	}

	/**
	 * Reads the first rows of the lanes whose first row is due. An event without a key,
	 * alone in its lane, is not read before it is claimed.
	 * @param lanes the lanes, by number
	 * @param limit how many rows of each
	 * @return the rows of each lane, at least one, in the order of lanes
	 */
	Collection<List<QueuedEvent>> read(Map<Long, LaneSignal> lanes, int limit) {
		Map<Long, LastDelivered> behind = behind(lanes);
		Map<Long, List<QueuedEvent>> first = new TreeMap<>();
		List<LaneQuery> queries = new ArrayList<>();
		lanes.forEach((lane, signal) -> {
			if (signal.alone() != null) {
				first.put(lane, List.of(signal.alone()));
				return;
			}
			LastDelivered delivered = behind.get(lane);
			queries
				.add(new LaneQuery(lane, (delivered != null) ? Math.min(signal.row() - 1, delivered.row().id()) : 0));
		});
		if (!queries.isEmpty()) {
			first.putAll(byLane(this.table.heads(queries, limit)));
		}
		List<LaneQuery> fromStart = new ArrayList<>();
		behind.forEach((lane, delivered) -> {
			List<QueuedEvent> rows = first.get(lane);
			if (rows != null && !delivered.isFollowedBy(rows.get(0))) {
				fromStart.add(new LaneQuery(lane, 0));
			}
			else if (rows != null) {
				rows.removeIf((row) -> !delivered.isFollowedBy(row));
			}
		});
		if (!fromStart.isEmpty()) {
			fromStart.forEach((query) -> first.remove(query.lane()));
			first.putAll(byLane(this.table.heads(fromStart, limit)));
		}
		first.values().removeIf((rows) -> !rows.get(0).due());
		return first.values();
	}

	private Map<Long, LastDelivered> behind(Map<Long, LaneSignal> lanes) {
		Map<Long, LastDelivered> behind = new HashMap<>();
		synchronized (this.lastDelivered) {
			lanes.forEach((lane, signal) -> {
				LastDelivered delivered = this.lastDelivered.get(lane);
				if (delivered != null && signal.row() > 0) {
					behind.put(lane, delivered);
				}
			});
		}
		return behind;
	}

	private static Map<Long, List<QueuedEvent>> byLane(List<QueuedEvent> rows) {
		Map<Long, List<QueuedEvent>> lanes = new TreeMap<>();
		rows.forEach((row) -> lanes.computeIfAbsent(row.lane(), (lane) -> new ArrayList<>()).add(row));
		return lanes;
	}

	/**
	 * Remembers the last rows that lanes have delivered.
	 */
	void delivered(Collection<QueuedEvent> last) {
		synchronized (this.lastDelivered) {
			last.forEach((row) -> this.lastDelivered.put(row.lane(), new LastDelivered(row)));
		}
	}

	/**
	 * The last delivered row of a lane, as it was read.
	 */
	private record LastDelivered(QueuedEvent row) {

		/**
		 * Whether no row can be between a row that a search behind this one has found and
		 * this one. Another key of the lane may have an earlier row that committed later.
		 * In another epoch of the table, ids may have started again.
		 */
		boolean isFollowedBy(QueuedEvent next) {
			return next.id() > this.row.id() && next.topic().equals(this.row.topic())
					&& Objects.equals(next.key(), this.row.key()) && Objects.equals(next.epoch(), this.row.epoch());
		}

	}

}
