package dev.idempotent.autoconfigure.saga;

import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.method.SagaApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what an application is told about calls of steps that nothing observes.
 */
@ExtendWith(OutputCaptureExtension.class)
class SagaStartupCheckTests {

	private static final String TARGETS = "idempotent.client.targets is not set";

	private static final String REDIRECTS = "spring.http.clients.redirects is not set";

	private static final String TIMEOUT = "spring.http.clients.read-timeout is not set";

	private static final String UNOBSERVED = "and no call with a key was observed";

	@Test
	void warnsIfCallsHaveNoKeys(CapturedOutput output) {
		application(Caller.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce(TARGETS).doesNotContain(REDIRECTS);
	}

	@Test
	void isSilentIfTheApplicationHasDecided(CapturedOutput output) {
		application(Caller.class).withPropertyValues("idempotent.client.targets=")
			.run((context) -> assertThat(context).hasNotFailed());
		application(Caller.class)
			.withPropertyValues("idempotent.client.targets.pay[0]=pay.example.com",
					"spring.http.clients.redirects=dont-follow", "spring.http.clients.read-timeout=5s")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain(TARGETS, REDIRECTS, TIMEOUT);
	}

	@Test
	void isSilentWithoutASaga(CapturedOutput output) {
		application().run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain(TARGETS, REDIRECTS, TIMEOUT);
	}

	@Test
	void warnsIfClientsFollowRedirects(CapturedOutput output) {
		application(Caller.class).withPropertyValues("idempotent.client.targets.pay=pay.example.com")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce(REDIRECTS).doesNotContain(TARGETS);
	}

	@Test
	void warnsIfClientsWaitWithoutLimit(CapturedOutput output) {
		application(Caller.class)
			.withPropertyValues("idempotent.client.targets.pay=pay.example.com",
					"spring.http.clients.redirects=dont-follow")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce(TIMEOUT).doesNotContain(TARGETS, REDIRECTS);
	}

	@Test
	void warnsOnceOfAStepWithoutAnObservedCall(CapturedOutput output) {
		application(Caller.class).run((context) -> {
			Caller caller = context.getBean(Caller.class);
			caller.withKey("1");
			assertThat(output).doesNotContain(UNOBSERVED);
			caller.withoutKey("2");
			caller.withoutKey("3");
		});
		assertThat(output).containsOnlyOnce(UNOBSERVED);
	}

	private static ApplicationContextRunner application(Class<?>... beans) {
		return SagaApplication.with(beans)
			.withConfiguration(AutoConfigurations.of(ClassUtils.resolveClassName(
					"dev.idempotent.autoconfigure.idempotency.IdempotencyClientAutoConfiguration", null)));
	}

	static class Caller {

		private final SagaSteps saga;

		Caller(SagaSteps saga) {
			this.saga = saga;
		}

		@Saga(key = "#id", name = "Caller.withKey")
		public void withKey(String id) {
			this.saga.step("order").runInTransaction(() -> {
			});
			this.saga.step("charge", String.class).run((key) -> key);
		}

		@Saga(key = "#id", name = "Caller.withoutKey")
		public void withoutKey(String id) {
			this.saga.step("charge").run(() -> {
			});
		}

	}

}
