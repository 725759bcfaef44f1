package dev.idempotent.outbox.relay;

import java.util.List;
import java.util.function.Consumer;

import dev.idempotent.outbox.DeadEvents;
import dev.idempotent.outbox.EventFilter;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The promises on PostgreSQL.
 */
class PostgresRelayIntegrationTests extends AbstractRelayTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	List<String> database() {
		return postgres.properties();
	}

	/**
	 * This process has delivered a row with an id that another instance has used again.
	 */
	@Test
	void keepsTheOrderWhenIdsStartAgain() {
		Shop shop = open(Shop.SELDOM);
		Shop other = open(Shop.SELDOM, "idempotent.outbox.relay.enabled=false");
		shop.database().sql("truncate relay_event restart identity").update();
		shop.appendOrdered("a", "first", "second", "third");
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		shop.database().sql("truncate relay_event restart identity").update();
		other.appendOrdered("a", "1", "2", "3");
		shop.appendOrdered("a", "4");
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(shop.broker().types()).containsExactly("first", "second", "third", "1", "2", "3", "4");
	}

	@Test
	void publishesEachEventAtItsFirstAttemptIfRowsHaveEqualIds() {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.attempts=1");
		becomeDead(shop, () -> shop.append("1", "2", "3"));
		retryBeside(shop, (other) -> other.append("4", "5", "6"));
		shop.relay().wake();
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		assertThat(shop.broker().types()).containsExactlyInAnyOrder("1", "2", "3", "4", "5", "6");
		assertThat(shop.dead()).isEmpty();
	}

	@Test
	void keepsTheOrderOfAKeyIfTheRowOfAnotherHasItsId() {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.workers=1");
		becomeDead(shop, () -> shop.appendOrdered("a", "of a"));
		retryBeside(shop, (other) -> other.appendOrdered("b", "1"));
		shop.broker()
			.answer((event) -> "b".equals(event.key()) ? new Outcome.Retry("not yet", null) : new Outcome.Delivered());
		shop.relay().wake();
		await().untilAsserted(() -> assertThat(shop.pending()).isEqualTo(shop.waiting()).isOne());
		shop.broker().answer((event) -> new Outcome.Delivered());
		shop.database().sql("update relay_event set due_at = now() + interval '1 hour'").update();
		shop.appendOrdered("b", "2");
		shop.appendOrdered("c", "of c");
		await().untilAsserted(() -> assertThat(shop.broker().types()).contains("of c"));
		shop.database().sql("update relay_event set due_at = null").update();
		shop.relay().wake();
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		assertThat(shop.broker().types()).containsExactly("of a", "of c", "1", "2");
	}

	/**
	 * Lets dead events have the table's first ids.
	 */
	private static void becomeDead(Shop shop, Runnable appends) {
		shop.database().sql("truncate relay_event restart identity").update();
		shop.broker().answer((event) -> new Outcome.Reject("not now"));
		appends.run();
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		shop.broker().answer((event) -> new Outcome.Delivered());
	}

	/**
	 * Retries dead events, which keep the ids of their rows, beside new ones with the
	 * same ids.
	 */
	private void retryBeside(Shop shop, Consumer<Shop> appends) {
		shop.database().sql("truncate relay_event restart identity").update();
		appends.accept(open(Shop.SELDOM, "idempotent.outbox.relay.enabled=false"));
		int retried = shop.bean(DeadEvents.class).retry(EventFilter.ALL);
		assertThat(shop.database().sql("select count(distinct id) from relay_event").query(Integer.class).single())
			.isEqualTo(retried)
			.isEqualTo(shop.pending() / 2);
	}

}
