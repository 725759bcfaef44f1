package dev.idempotent.outbox;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link OutboxEvent}.
 */
class OutboxEventTests {

	@Test
	void areImmutable() {
		OutboxEvent event = OutboxEvent.of("order.created", 1);
		OutboxEvent other = event.toTopic("test:orders")
			.withKey("o-1")
			.withHeader("Tenant", "a")
			.withHeader("tenant", "b");
		assertThat(event.topic()).isNull();
		assertThat(event.headers()).isEmpty();
		assertThat(other.topic()).isEqualTo("test:orders");
		assertThat(other.key()).isEqualTo("o-1");
		assertThat(other.headers()).containsOnlyKeys("tenant").containsEntry("tenant", "b");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "ce_id", "CE_Type", "payload" })
	void rejectReservedHeaderNames(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> OutboxEvent.of("order.created", 1).withHeader(name, "x"));
	}

	@Test
	void requireAType() {
		assertThatIllegalArgumentException().isThrownBy(() -> OutboxEvent.of(" ", 1));
	}

}
