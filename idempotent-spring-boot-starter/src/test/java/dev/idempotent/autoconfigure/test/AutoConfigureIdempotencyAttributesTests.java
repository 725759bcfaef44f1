package dev.idempotent.autoconfigure.test;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the attributes of {@link AutoConfigureIdempotency}.
 */
@SpringJUnitConfig
@AutoConfigureIdempotency(relay = true, streams = true)
class AutoConfigureIdempotencyAttributesTests {

	@Autowired
	private Environment environment;

	@Test
	void leaveRelayAndStreamsOn() {
		assertThat(this.environment.getProperty("idempotent.outbox.relay.enabled")).isEqualTo("true");
		assertThat(this.environment.getProperty("idempotent.stream.enabled")).isEqualTo("true");
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

	}

}
