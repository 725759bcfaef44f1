package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.OutboxRow.Place;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStoreSteps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is promised about the columns of an event, by the metadata of the tables.
 */
abstract class OutboxColumnsContract extends OutboxStoreSteps {

	/**
	 * The state of a delivery, which is not an attribute of the event.
	 */
	private static final Set<String> STATE = Set.of("available_at", "attempts", "claim_id", "claimed_by", "last_error",
			"died_at", "key_hash");

	@Override
	protected abstract StoreOnTables tested();

	@ParameterizedTest
	@EnumSource
	void hasExactlyTheListedColumnsInEachTable(Place place) throws SQLException {
		Set<String> columns = columns(tested().table(place));
		columns.removeAll(STATE);
		assertThat(columns.remove("sequence")).isEqualTo(place == Place.DEAD);
		assertThat(columns).isEqualTo(Stream.of(EventColumn.values())
			.map(EventColumn::column)
			.collect(Collectors.toCollection(TreeSet::new)));
	}

	@Test
	void carriesEachColumnThroughFailureDeathAndRetry() {
		List<LeasedEvent> appended = appendLeased("one");
		Map<String, String> values = values(Place.EVENT);
		assertThat(values).hasSize(EventColumn.values().length).doesNotContainValue(null);
		assertThat(postpone(appended, Duration.ZERO)).isEqualTo(1);
		assertThat(values(Place.WAITING)).isEqualTo(values);
		List<LeasedEvent> waiting = claimWaiting();
		assertThat(deadLetter(waiting)).isEqualTo(1);
		assertThat(values(Place.DEAD)).isEqualTo(values);
		JdbcDeadEvents dead = new JdbcDeadEvents(tested().dataSource(), tested().tables());
		assertThat(dead.retry(new DeadFilter(null, null, this.publisher + ":orders"))).isEqualTo(1);
		assertThat(values(Place.WAITING)).isEqualTo(values);
	}

	private Set<String> columns(String table) throws SQLException {
		try (Connection connection = tested().dataSource().getConnection();
				ResultSet columns = connection.getMetaData().getColumns(connection.getCatalog(), null, null, null)) {
			Set<String> names = new TreeSet<>();
			while (columns.next()) {
				if (columns.getString("TABLE_NAME").equalsIgnoreCase(table)) {
					names.add(columns.getString("COLUMN_NAME").toLowerCase(Locale.ROOT));
				}
			}
			return names;
		}
	}

	/**
	 * The values of the only event, except for the state of its delivery.
	 */
	private Map<String, String> values(Place place) {
		return Objects.requireNonNull(tested().template()
			.queryForObject("select * from " + tested().table(place) + " where topic like ?", (row, number) -> {
				Map<String, String> values = new TreeMap<>();
				for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
					values.put(row.getMetaData().getColumnName(i).toLowerCase(Locale.ROOT), row.getString(i));
				}
				values.keySet().removeAll(STATE);
				// The row of a dead event is not the one that it had.
				String sequence = values.remove("sequence");
				values.computeIfPresent("id", (column, id) -> (sequence != null) ? sequence : id);
				return values;
			}, this.publisher + ":%"));
	}

}
