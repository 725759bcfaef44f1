package dev.idempotent.sample.chaos;

import dev.idempotent.sample.servers.RedisServer;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;

import static org.assertj.core.api.Assertions.assertThat;

class RedisChaosControllerTests {

	@Test
	void cutsNoRedisThatAnotherProcessHasStarted() {
		assertThat(tester(true).get().uri("/api/chaos/redis")).hasStatus(409);
		assertThat(tester(true).post()
			.uri("/api/chaos/redis")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"action\": \"cut\"}")).hasStatus(409).failure().hasMessageContaining("spring.data.redis");
	}

	@Test
	void cutsNothingIfDisabled() {
		assertThat(tester(false).get().uri("/api/chaos/redis")).hasStatus(404)
			.failure()
			.hasMessageContaining("sample.chaos.enabled");
	}

	private static MockMvcTester tester(boolean enabled) {
		StaticListableBeanFactory beans = new StaticListableBeanFactory();
		return MockMvcTester.create(MockMvcBuilders
			.standaloneSetup(
					new RedisChaosController(new ChaosProperties(enabled), beans.getBeanProvider(RedisServer.class)))
			.build());
	}

}
