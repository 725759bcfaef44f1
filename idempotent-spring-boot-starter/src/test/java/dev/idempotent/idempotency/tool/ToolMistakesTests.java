package dev.idempotent.idempotency.tool;

import java.util.AbstractList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.idempotency.ImportTools;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.method.MethodApplication;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.mockito.Mockito;
import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.method.MethodToolCallbackProvider;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Annotations of tools that would have no effect, or another one than it seems, stop the
 * application with what to do.
 */
@ExtendWith(OutputCaptureExtension.class)
class ToolMistakesTests {

	static Stream<Arguments> invalid() {
		return Stream.of(
				arguments(NoWindow.class, "takes its key from the call of a tool and has no window",
						"window = \"15m\""),
				arguments(WindowOfAMethod.class, "has a window, and does not take its key from the call of a tool",
						"Add from = KeySource.TOOL_CALL"),
				arguments(ShortWindow.class, "has a window of PT10S, shorter than its lease of PT1M",
						"at least as long as the lease"),
				arguments(NoTool.class, "takes its key from the call of a tool, and is not a tool",
						"Add @Tool or @McpTool"),
				arguments(ToolOfInterface.class, "is a tool by the annotation of an interface", "Repeat @McpTool"),
				arguments(Future.class, "is a tool and returns a future", "Return the result"),
				arguments(Everything.class,
						"ignores everything, so that all calls of the tool without a key would be one",
						"List the parameters to ignore"),
				arguments(NoName.class, "has no name", "Set a name that never changes"),
				arguments(UnknownKey.class, "no variable #orderKey, only #item", "SpEL"),
				arguments(HandMade.class, "is called on an instance of its class that a ToolCallbackProvider",
						"take the bean of the class as a parameter"),
				arguments(HandMadeProxy.class, "is called on an instance of its class that a ToolCallbackProvider",
						"take the bean of the class as a parameter"),
				arguments(HandMadeCallbacks.class, "is called on an instance of its class that a ToolCallbackProvider",
						"take the bean of the class as a parameter"),
				arguments(HandMadeCallback.class, "is called on an instance of its class that a ToolCallbackProvider",
						"take the bean of the class as a parameter"));
	}

	@ParameterizedTest
	@MethodSource("invalid")
	void stopsTheApplication(Class<?> tools, String mistake, String action) {
		tools(tools).run((context) -> assertMistake(context.getStartupFailure(), mistake, action));
	}

	@Test
	void warnOfKeysThatCallersShare(CapturedOutput output) {
		tools(SharedKeys.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsPattern("The tool .*SharedKeys.* has keys that all callers share")
			.contains("Set from = KeySource.TOOL_CALL");
	}

	@Test
	void refusesAToolBehindAProxyOfItsInterfaces() {
		tools(WithInterface.class).withPropertyValues("spring.aop.proxy-target-class=false")
			.run((context) -> assertMistake(context.getStartupFailure(),
					"the proxy of its bean implements interfaces only", "spring.aop.proxy-target-class"));
		tools(WithInterface.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void startsIfATestHasReplacedTheTool() {
		tools(ReplacedApplication.class)
			.withBean("org.springframework.test.context.bean.override.internalBeanOverrideRegistry", Object.class,
					Object::new)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void readsNoElementsOfListsThatAreNotTools() {
		tools(Fit.class).withBean("lazy", List.class, LazyList::new)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void refusesKeysOfCallsOnAnAsynchronousServer() {
		assertMistake(startFailure(McpApplication.class, "spring.ai.mcp.server.type=ASYNC"),
				"an MCP server of type ASYNC calls it on other threads", "spring.ai.mcp.server.type=SYNC");
	}

	@Test
	void refusesAToolThatAnAsynchronousServerLeavesOut() {
		assertMistake(startFailure(KeyedApplication.class, "spring.ai.mcp.server.type=ASYNC"),
				"is a tool of MCP that the server of this application leaves out", "must return a Mono or Flux");
	}

	@Test
	void refusesAToolThatAStatelessServerLeavesOut() {
		assertMistake(startFailure(ExchangeApplication.class, "spring.ai.mcp.server.protocol=STATELESS"),
				"is a tool of MCP that the server of this application leaves out", "protocol=STATELESS");
	}

	@Test
	void refusesAToolOfAnInterfaceThatTheServerLeavesOut() {
		assertMistake(startFailure(InterfaceApplication.class),
				"is a tool of MCP that the server of this application leaves out",
				"Annotate the method of the class itself");
	}

	@Test
	void refusesAToolThatIsServedBeforeItIsAdvised() {
		assertMistake(startFailure(CircularApplication.class, "spring.main.allow-circular-references=true"),
				"its bean is part of a circular reference", "Break the cycle");
	}

	private static Throwable startFailure(Class<?> application, String... properties) {
		ThrowableAssertAlternative<RuntimeException> failure = assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> ToolShop.start(application, properties).close());
		return failure.actual();
	}

	private static ApplicationContextRunner tools(Class<?> tools) {
		return MethodApplication.with(tools).withConfiguration(AutoConfigurations.of(ImportTools.CLASS));
	}

	private static void assertMistake(@Nullable Throwable failure, String mistake, String action) {
		Throwable cause = failure;
		while (cause != null && !(cause instanceof IdempotentConfigurationException)) {
			cause = cause.getCause();
		}
		assertThat(cause).isInstanceOfSatisfying(IdempotentConfigurationException.class, (ex) -> {
			assertThat(ex).hasMessageContaining(mistake);
			assertThat(ex.getAction()).contains(action);
		});
	}

	static class SharedKeys {

		@Tool
		@Idempotent(key = "#payKey", name = "pay")
		String pay(String payKey) {
			return payKey;
		}

	}

	static class NoWindow {

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, name = "buy")
		String buy(String item) {
			return item;
		}

	}

	static class WindowOfAMethod {

		@Tool
		@Idempotent(key = "#item", window = "1m", name = "buy")
		String buy(String item) {
			return item;
		}

	}

	static class ShortWindow {

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "10s", lease = "1m", name = "buy")
		String buy(String item) {
			return item;
		}

	}

	static class NoTool {

		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy")
		String buy(String item) {
			return item;
		}

	}

	interface Buying {

		@McpTool
		String buy(String item);

	}

	static class ToolOfInterface implements Buying {

		@Override
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy")
		public String buy(String item) {
			return item;
		}

	}

	static class Future {

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy")
		CompletableFuture<String> buy(String item) {
			return CompletableFuture.completedFuture(item);
		}

	}

	static class Everything {

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy", ignore = "*")
		String buy(String item) {
			return item;
		}

	}

	static class NoName {

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m")
		String buy(String item) {
			return item;
		}

	}

	static class UnknownKey {

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, key = "#orderKey", window = "15m", name = "buy")
		String buy(String item) {
			return item;
		}

	}

	interface Shop {

		String buy(String item);

	}

	static class WithInterface implements Shop {

		@Override
		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy")
		public String buy(String item) {
			return item;
		}

	}

	static class Fit {

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy")
		String buy(String item) {
			return item;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HandMade {

		@Bean
		ToolCallbackProvider callbacks() {
			return MethodToolCallbackProvider.builder().toolObjects(new Fit()).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HandMadeCallbacks {

		@Bean
		ToolCallbackProvider callbacks() {
			return ToolCallbackProvider.from(ToolCallbacks.from(new Fit()));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HandMadeProxy {

		@Bean
		ToolCallbackProvider callbacks() {
			ProxyFactory proxy = new ProxyFactory(new Fit());
			proxy.setProxyTargetClass(true);
			return MethodToolCallbackProvider.builder().toolObjects(proxy.getProxy()).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ReplacedApplication {

		@Bean
		static BeanPostProcessor replacement() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					return (bean instanceof Fit) ? Mockito.mock(Fit.class) : bean;
				}

			};
		}

		@Bean
		Fit fit() {
			return new Fit();
		}

		@Bean
		ToolCallbackProvider callbacks(Fit fit) {
			return MethodToolCallbackProvider.builder().toolObjects(fit).build();
		}

	}

	/**
	 * Loads its elements when they are read.
	 */
	static class LazyList extends AbstractList<String> {

		@Override
		public String get(int index) {
			throw new IllegalStateException("The elements must not be read");
		}

		@Override
		public int size() {
			return 1;
		}

		@Override
		public boolean equals(Object other) {
			return this == other;
		}

		@Override
		public int hashCode() {
			return 1;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HandMadeCallback {

		@Bean
		ToolCallback callback() {
			return MethodToolCallbackProvider.builder().toolObjects(new Fit()).build().getToolCallbacks()[0];
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Purchases.Shop.class, Fit.class })
	static class McpApplication {

		@Bean
		ToolCallbackProvider callbacks(Fit fit) {
			return MethodToolCallbackProvider.builder().toolObjects(fit).build();
		}

	}

	static class Keyed {

		@McpTool
		@Idempotent(key = "#item", name = "buy")
		String buy(String item) {
			return item;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Purchases.Shop.class, Keyed.class })
	static class KeyedApplication {

	}

	static class WithExchange {

		@McpTool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy")
		String buy(String item, McpSyncServerExchange exchange) {
			return item;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Purchases.Shop.class, WithExchange.class })
	static class ExchangeApplication {

	}

	static class KeyedOfInterface implements Buying {

		@Override
		@Idempotent(key = "#item", name = "buy")
		public String buy(String item) {
			return item;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Purchases.Shop.class, KeyedOfInterface.class })
	static class InterfaceApplication {

	}

	static class InCircle {

		@Autowired
		void use(Other other) {
		}

		@McpTool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy")
		String buy(String item) {
			return item;
		}

	}

	static class Other {

		@Autowired
		void use(InCircle tool) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Purchases.Shop.class, InCircle.class, Other.class })
	static class CircularApplication {

	}

}
