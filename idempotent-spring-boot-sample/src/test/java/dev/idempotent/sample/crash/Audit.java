package dev.idempotent.sample.crash;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Compares the answers that customers got with the rows of the database.
 */
final class Audit {

	private final JdbcClient jdbc;

	Audit(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Checks each key by itself.
	 */
	List<Violation> check(List<KeyHistory> keys) {
		Map<String, List<String>> orders = this.jdbc.sql("""
				select user_id, order_id from orders where user_id in (select unnest(string_to_array(:keys, ',')))
				""")
			.param("keys", keys.stream().map(KeyHistory::key).collect(Collectors.joining(",")))
			.query((row, number) -> Map.entry(row.getString("user_id"), row.getString("order_id")))
			.list()
			.stream()
			.collect(Collectors.groupingBy(Map.Entry::getKey,
					Collectors.mapping(Map.Entry::getValue, Collectors.toList())));
		return keys.stream().flatMap((key) -> check(key, orders.getOrDefault(key.key(), List.of())).stream()).toList();
	}

	/**
	 * Checks a key.
	 * @param orders the ids of the orders that were made for it
	 */
	static List<Violation> check(KeyHistory key, List<String> orders) {
		List<Violation> violations = new ArrayList<>();
		List<Answer> answers = key.answers();
		Answer first = answers.isEmpty() ? null : answers.get(0);
		if (first == null) {
			violations.add(new Violation("stuck", "no final answer; orders: " + orders, key));
		}
		else {
			if (!answers.stream().allMatch(first::says)) {
				violations.add(new Violation("several responses", orders.toString(), key));
			}
			if (answers.stream().filter(Predicate.not(Answer::replayed)).count() > 1) {
				violations.add(new Violation("ran again", orders.toString(), key));
			}
			if (orders.isEmpty()) {
				violations.add(new Violation("lost order", "answered " + first.status(), key));
			}
			else if (answers.stream().anyMatch((answer) -> orders.stream().noneMatch(answer::names))) {
				violations.add(new Violation("response without its order", orders.toString(), key));
			}
		}
		if (orders.size() > 1) {
			violations.add(new Violation("several orders", orders.toString(), key));
		}
		if (key.attempts()
			.stream()
			.filter(Attempt::altered)
			.map(Attempt::finalAnswer)
			.filter(Objects::nonNull)
			.anyMatch((answer) -> answer.status() != 422)) {
			violations.add(new Violation("altered request taken", orders.toString(), key));
		}
		return violations;
	}

	/**
	 * Counts what a run has left in the database: late orders, those that no key stands
	 * for, and records of work that never ended included.
	 */
	Census count(KeyRing keys) {
		return this.jdbc.sql("""
				select :issued as keys,
				       (select count(*) from orders where starts_with(user_id, :prefix)) as orders,
				       (select count(*) from generate_series(1, :issued) key
				        where (select count(*) from orders where user_id = :prefix || key) = 1) as keys_with_one_order,
				       (select count(*) from idempotency_record where not completed) as unfinished_records
				""").param("issued", keys.issued()).param("prefix", keys.prefix()).query(Census.class).single();
	}

	/**
	 * What a run has left in the database.
	 */
	record Census(long keys, long orders, long keysWithOneOrder, long unfinishedRecords) {

		/**
		 * Whether each key has one order, each order has a key, and all work has ended.
		 * @param leasesElsewhere whether the table has no keys of {@code LEASE}: the keys
		 * of a dead instance stay unfinished if no retry uses them
		 */
		boolean isExact(boolean leasesElsewhere) {
			return this.orders == this.keys && this.keysWithOneOrder == this.keys
					&& (this.unfinishedRecords == 0 || !leasesElsewhere);
		}

	}

	/**
	 * A broken promise.
	 *
	 * @param kind which one
	 * @param detail what was found
	 * @param key the key
	 */
	record Violation(String kind, String detail, KeyHistory key) {

	}

}
