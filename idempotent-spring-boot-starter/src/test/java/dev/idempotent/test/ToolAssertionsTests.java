package dev.idempotent.test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.autoconfigure.idempotency.ImportTools;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.ToolCallRefusedException;
import dev.idempotent.idempotency.ToolRefusal.Reason;
import dev.idempotent.idempotency.method.MethodApplication;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static dev.idempotent.test.ToolAssertions.replaysCall;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link ToolAssertions}.
 */
class ToolAssertionsTests {

	private final ApplicationContextRunner application = MethodApplication.with(Application.class)
		.withConfiguration(AutoConfigurations.of(ImportTools.CLASS));

	private final ApplicationContextRunner withCaller = this.application
		.withPropertyValues("idempotent.tool.single-caller=true");

	@ParameterizedTest
	@ValueSource(strings = { "tea", "milk" })
	void returnsTheResultOfTheRun(String item) {
		this.withCaller.run((context) -> {
			Tools tools = context.getBean(Tools.class);
			assertThat(replaysCall(() -> tools.buy(item)).items()).containsExactly(item);
			assertThat(tools.runs()).isOne();
		});
	}

	@Test
	void acceptsAToolWithoutAResult() {
		this.withCaller.run((context) -> {
			Tools tools = context.getBean(Tools.class);
			replaysCall(() -> {
				tools.cancel("tea");
				return "";
			});
			assertThat(tools.runs()).isOne();
		});
	}

	@Test
	void failsIfTheToolRunsAgain() {
		this.withCaller.run((context) -> {
			Tools tools = context.getBean(Tools.class);
			assertFails(() -> replaysCall(() -> tools.unprotected("tea")), "but it ran", "First:  tea 1",
					"Second: tea 2");
			assertFails(() -> replaysCall(() -> tools.buy("tea " + tools.runs())), "but it ran");
		});
	}

	@Test
	void failsIfTheToolIsCalledOnAnObjectThatIsNotTheBean() {
		Tools tools = new Tools();
		assertFails(() -> replaysCall(() -> tools.buy("tea")), "was not called on the bean");
	}

	@Test
	void failsIfTheFirstCallIsAReplay() {
		this.withCaller.run((context) -> {
			Tools tools = context.getBean(Tools.class);
			tools.buy("tea");
			assertFails(() -> replaysCall(() -> tools.buy("tea")), "its first result is a replay");
		});
	}

	@Test
	void failsIfTheReplayDiffers() {
		this.withCaller.run((context) -> {
			Tools tools = context.getBean(Tools.class);
			assertFails(() -> replaysCall(() -> tools.buy("tea").append("rum")), "replay of");
		});
	}

	@Test
	void failsWithTheRefusalIfTheCallerIsUnknown() {
		this.application.run((context) -> {
			Tools tools = context.getBean(Tools.class);
			assertThatExceptionOfType(ToolCallRefusedException.class)
				.isThrownBy(() -> replaysCall(() -> tools.buy("tea")))
				.withMessage(Reason.CALLER_UNKNOWN.sentence());
		});
	}

	private static void assertFails(ThrowingCallable assertion, String... parts) {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(assertion)
			.satisfies((failure) -> assertThat(failure).message().contains(parts));
	}

	@Configuration(proxyBeanMethods = false)
	@Import(Tools.class)
	static class Application {

	}

	static class Tools {

		private final AtomicInteger runs = new AtomicInteger();

		int runs() {
			return this.runs.get();
		}

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy", guarantee = Guarantee.LEASE)
		Basket buy(String item) {
			this.runs.incrementAndGet();
			return new Basket(List.of(item));
		}

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "cancel", guarantee = Guarantee.TRANSACTION)
		void cancel(String item) {
			this.runs.incrementAndGet();
		}

		@Tool
		String unprotected(String item) {
			return item + " " + this.runs.incrementAndGet();
		}

	}

	record Basket(List<String> items) {

		private static final AtomicInteger appended = new AtomicInteger();

		Basket append(String item) {
			List<String> more = new ArrayList<>(this.items);
			more.add(item + appended.incrementAndGet());
			return new Basket(more);
		}

	}

}
