package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

	private final Map<Long, QueuedEvent> lastDelivered;

	LaneReader(EventTable table, int remembered) {
		this.table = table;
		this.lastDelivered = new LinkedHashMap<>(16, 0.75F, true) {

			@Override
			protected boolean removeEldestEntry(Map.Entry<Long, QueuedEvent> eldest) {
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
		Map<Long, QueuedEvent> behind = behind(lanes);
		Map<Long, List<QueuedEvent>> first = new TreeMap<>();
		List<LaneQuery> queries = new ArrayList<>();
		lanes.forEach((lane, signal) -> {
			if (signal.alone() != null) {
				first.put(lane, List.of(signal.alone()));
				return;
			}
			QueuedEvent delivered = behind.get(lane);
			queries.add(new LaneQuery(lane, (delivered != null) ? Math.min(signal.row() - 1, delivered.id()) : 0));
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

	private Map<Long, QueuedEvent> behind(Map<Long, LaneSignal> lanes) {
		Map<Long, QueuedEvent> behind = new HashMap<>();
		synchronized (this.lastDelivered) {
			lanes.forEach((lane, signal) -> {
				QueuedEvent delivered = this.lastDelivered.get(lane);
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
			last.forEach((row) -> this.lastDelivered.put(row.lane(), row));
		}
	}

}
