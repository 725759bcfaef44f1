package dev.idempotent.outbox.relay;

import java.util.List;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The rules on PostgreSQL.
 */
class PostgresRelayIntegrationTests extends OrderRules {

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

}
