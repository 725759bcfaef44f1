package dev.idempotent.benchmark.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import dev.idempotent.benchmark.http.application.BareTransactionApplication;
import dev.idempotent.benchmark.http.application.DatabaseByHandApplication;
import dev.idempotent.benchmark.http.application.LeaseApplication;
import dev.idempotent.benchmark.http.application.ManyMappingsApplication;
import dev.idempotent.benchmark.http.application.MethodApplication;
import dev.idempotent.benchmark.http.application.OneRawGetApplication;
import dev.idempotent.benchmark.http.application.PlainApplication;
import dev.idempotent.benchmark.http.application.TransactionApplication;
import dev.idempotent.benchmark.http.application.TransactionByHandApplication;
import dev.idempotent.benchmark.http.application.TwoRawCallsApplication;

/**
 * All contenders by their names.
 */
final class Recipes {

	/**
	 * The clients of a storm on one key.
	 */
	private static final int STORM = 64;

	private static final String EARLIER = "-earlier";

	private Recipes() {
	}

	static Recipe named(String name) {
		return Objects.requireNonNull(all().get(name), () -> "There is no contender " + name);
	}

	/**
	 * All contenders, those with the starter also with an earlier state of it.
	 */
	static Map<String, Recipe> all() {
		Map<String, Recipe> all = ofToday();
		Map.copyOf(all).forEach((name, recipe) -> {
			if (recipe.parts().contains(Part.STARTER)) {
				all.put(earlier(name), recipe.withEarlierStarter());
			}
		});
		return all;
	}

	static Map<String, Recipe> ofToday() {
		Map<String, Recipe> all = new LinkedHashMap<>();
		all.put("plain", Recipe.of(PlainApplication.class));
		all.put("two-raw-calls", Recipe.of(TwoRawCallsApplication.class));
		all.put("one-raw-get", Recipe.of(OneRawGetApplication.class).replayed());
		all.put("one-raw-get-64", Recipe.of(OneRawGetApplication.class).replayed().clients(STORM));
		all.put("lease-first", Recipe.of(LeaseApplication.class, Part.STARTER));
		all.put("lease-replay", Recipe.of(LeaseApplication.class, Part.STARTER).replayed());
		all.put("cached-replay",
				Recipe.of(LeaseApplication.class, Part.STARTER, Part.CACHE)
					.with("idempotent.replay-cache.max-size=16MB")
					.replayed());
		all.put("hot-key", Recipe.of(LeaseApplication.class, Part.STARTER).at("/held").pending().clients(STORM));
		unannotated(all, "absent");
		unannotated(all, "present", Part.STARTER);
		all.put("bare-transaction", Recipe.of(BareTransactionApplication.class, Part.DATABASE));
		all.put("transaction-by-hand", Recipe.of(TransactionByHandApplication.class, Part.DATABASE));
		Recipe transaction = Recipe.of(TransactionApplication.class, Part.DATABASE, Part.STARTER);
		all.put("transaction-first", transaction);
		all.put("database-by-hand", Recipe.of(DatabaseByHandApplication.class, Part.DATABASE));
		all.put("database-first", transaction.with("idempotent.store=jdbc"));
		all.put("transaction-replay", transaction.replayed());
		all.put("method-first", Recipe.of(MethodApplication.class, Part.STARTER));
		return all;
	}

	/**
	 * Chosen contenders that are compared with each other, and run at the same time:
	 * contenders of all groups at once would compile and wait beside each other.
	 */
	static List<List<String>> groups(List<String> chosen) {
		return Stream
			.of(List.of("two-raw-calls", "lease-first", "method-first"),
					List.of("plain", "cached-replay", "one-raw-get", "lease-replay", "transaction-replay"),
					List.of("one-raw-get-64", "hot-key"),
					List.of("bare-transaction", "transaction-by-hand", "transaction-first", "database-by-hand",
							"database-first"),
					List.of("unannotated-absent", "unannotated-present", "unannotated-variable-absent",
							"unannotated-variable-present"))
			.map((group) -> group.stream()
				.flatMap((name) -> Stream.of(name, earlier(name)))
				.filter(chosen::contains)
				.toList())
			.filter((group) -> !group.isEmpty())
			.toList();
	}

	/**
	 * The contender with an earlier state of the starter.
	 * @param name the contender with today's starter
	 */
	static String earlier(String name) {
		return name + EARLIER;
	}

	private static void unannotated(Map<String, Recipe> all, String name, Part... parts) {
		Recipe recipe = Recipe.of(ManyMappingsApplication.class, parts);
		all.put("unannotated-" + name, recipe.at("/plain/100/orders"));
		all.put("unannotated-variable-" + name, recipe.at("/plain/101/42/orders"));
	}

}
