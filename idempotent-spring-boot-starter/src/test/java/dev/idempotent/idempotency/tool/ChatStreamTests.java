package dev.idempotent.idempotency.tool;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.ToolRefusal.Reason;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.internal.ToolCallReactiveContextHolder;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Scope;
import org.springframework.core.env.Environment;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import reactor.core.publisher.Flux;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tools that Spring AI calls in a web request, or for it on another thread: a stream
 * calls them on one of Reactor.
 */
class ChatStreamTests {

	private static final HttpClient http = HttpClient.newHttpClient();

	private static ToolShop shop;

	@BeforeAll
	static void start() {
		shop = ToolShop.start(Application.class, "server.forward-headers-strategy=framework");
	}

	@AfterAll
	static void stop() {
		shop.close();
	}

	@ParameterizedTest
	@CsvSource(nullValues = "-", textBlock = """
			bean,    call,   stream, alice
			bean,    stream, call,   alice
			bean,    stream, stream, alice
			bean,    block,  call,   alice
			bean,    call,   stream, -
			bean,    stream, call,   -
			builder, call,   stream, alice
			builder, stream, block,  -
			advised, call,   stream, alice
			advised, stream, call,   -
			""")
	void runsOnceWhicheverThreadCallsTheTool(String client, String first, String second, @Nullable String user) {
		String item = String.join(" ", client, first, second, String.valueOf(user));
		String answer = chat(shop, user, client, first, item);
		assertThat(answer).contains(item).doesNotContain("Nothing was done");
		assertThat(chat(shop, user, client, second, item)).isEqualTo(answer);
		assertThat(bought(shop, item)).isOne();
	}

	@ParameterizedTest
	@CsvSource(nullValues = "-", textBlock = """
			call,   stream, alice
			stream, call,   -
			""")
	void replaysUnderAKeyWhicheverThreadCallsTheTool(String first, String second, @Nullable String user) {
		String item = String.join(" ", "keyed", first, second, String.valueOf(user));
		String answer = chat(shop, user, "bean", first, "key/" + item);
		assertThat(chat(shop, user, "bean", second, "key/" + item)).isEqualTo(answer).contains(item);
		assertThat(bought(shop, item)).isOne();
	}

	@Test
	void runsEqualCallsOfTwoCallersInOneConversation() {
		chat(shop, "alice", "bean", "stream", "salt");
		chat(shop, "bob", "bean", "stream", "salt");
		chat(shop, null, "bean", "stream", "salt");
		chat(shop, "bob", "bean", "call", "salt");
		assertThat(bought(shop, "salt")).isEqualTo(3);
	}

	@Test
	void runsEqualCallsToTwoHosts() {
		Map<String, String> acme = Map.of("X-User", "alice", "X-Forwarded-Host", "acme.example.com");
		Map<String, String> globex = Map.of("X-User", "alice", "X-Forwarded-Host", "globex.example.com");
		get(shop, "/stream", "bean", "oil", acme);
		get(shop, "/call", "bean", "oil", acme);
		assertThat(bought(shop, "oil")).isOne();
		get(shop, "/stream", "bean", "oil", globex);
		assertThat(bought(shop, "oil")).isEqualTo(2);
	}

	@Test
	void runsOneOfTenCallsAtOnceOnBothThreads() throws Exception {
		CyclicBarrier together = new CyclicBarrier(10);
		ExecutorService threads = Executors.newFixedThreadPool(10);
		try {
			List<CompletableFuture<String>> calls = IntStream.range(0, 10)
				.mapToObj((i) -> CompletableFuture.supplyAsync(() -> {
					awaitAll(together);
					return chat(shop, "alice", "bean", (i % 2 == 0) ? "stream" : "call", "rum");
				}, threads))
				.toList();
			CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(1, TimeUnit.MINUTES);
			String answer = chat(shop, "alice", "bean", "stream", "rum");
			assertThat(calls).extracting(CompletableFuture::join)
				.allMatch((each) -> each.equals(answer) || each.equals(Reason.IN_PROGRESS.sentence()))
				.contains(answer);
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(bought(shop, "rum")).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "stream", "block" })
	void refusesTheStreamOfAClientThatDoesNotHandOnTheCaller(String way) {
		String item = "unadvised " + way;
		assertThat(chat(shop, "alice", "inline", way, item)).isEqualTo(Reason.CALLER_UNKNOWN.sentence());
		assertThat(bought(shop, item)).isZero();
		assertThat(chat(shop, "alice", "inline", "call", item)).contains(item);
		assertThat(bought(shop, item)).isOne();
	}

	@Test
	void refusesAStreamThatIsSubscribedToOnAnotherThread() {
		assertThat(chat(shop, "alice", "bean", "elsewhere", "ale")).isEqualTo(Reason.CALLER_UNKNOWN.sentence());
		assertThat(bought(shop, "ale")).isZero();
	}

	@Test
	void refusesACallOnAThreadWithoutARequest() {
		assertThat(chat(shop, "alice", "bean", "executor", "gin")).isEqualTo(Reason.CALLER_UNKNOWN.sentence());
		assertThat(bought(shop, "gin")).isZero();
	}

	@Test
	void takesTheCallerOfTheApplicationsResolver() {
		try (ToolShop resolving = ToolShop.start(WithResolver.class, "server.forward-headers-strategy=framework")) {
			for (String way : List.of("call", "stream", "elsewhere", "executor", "block")) {
				assertThat(chat(resolving, null, "bean", way, "tea")).contains("tea");
			}
			get(resolving, "/call", "bean", "tea", Map.of("X-Forwarded-Host", "acme.example.com"));
			assertThat(bought(resolving, "tea")).isOne();
		}
	}

	@Test
	void takesTheCallerThatAResolverFindsInTheRequest() {
		try (ToolShop resolving = ToolShop.start(WithHeaders.class)) {
			assertThat(chat(resolving, "alice", "bean", "call", "tea")).contains("tea");
			assertThat(chat(resolving, "alice", "bean", "stream", "tea")).contains("tea");
			assertThat(bought(resolving, "tea")).isOne();
			assertThat(chat(resolving, "alice", "bean", "executor", "tea")).isEqualTo(Reason.CALLER_UNKNOWN.sentence());
			assertThat(chat(resolving, "alice", "inline", "stream", "tea")).isEqualTo(Reason.CALLER_UNKNOWN.sentence());
			assertThat(bought(resolving, "tea")).isOne();
		}
	}

	@Test
	void asksAgainOnTheThreadOfTheToolForACallerThatTheSubscriberDoesNotKnow() {
		try (ToolShop resolving = ToolShop.start(WithContext.class)) {
			for (String failing : List.of("", "yes")) {
				String item = "tea" + failing;
				assertThat(inContext(resolving, "alice", failing, item)).contains(item);
				assertThat(inContext(resolving, "bob", failing, item))
					.isNotEqualTo(inContext(resolving, "alice", failing, item));
				assertThat(bought(resolving, item)).isEqualTo(2);
			}
			assertThat(inContext(resolving, "", "yes", "gin")).isEqualTo(Reason.CALLER_UNKNOWN.sentence());
			assertThat(inContext(resolving, "failing", "", "gin")).isEqualTo(Reason.CALLER_UNKNOWN.sentence());
			assertThat(bought(resolving, "gin")).isZero();
		}
	}

	private static String inContext(ToolShop server, String user, String failing, String item) {
		return get(server, "/context", "bean", item, Map.of("X-User", user, "X-Failing", failing));
	}

	@Test
	void runsEqualCallsOfGuestsOfTwoHosts() {
		Map<String, String> acme = Map.of("X-Forwarded-Host", "acme.example.com");
		Map<String, String> globex = Map.of("X-Forwarded-Host", "globex.example.com");
		try (ToolShop resolving = ToolShop.start(WithContext.class, "server.forward-headers-strategy=framework")) {
			for (String prompt : List.of("tea", "key/gin")) {
				String item = prompt.replace("key/", "");
				String answer = get(resolving, "/call", "bean", prompt, acme);
				assertThat(get(resolving, "/stream", "bean", prompt, acme)).isEqualTo(answer).contains(item);
				assertThat(bought(resolving, item)).isOne();
				assertThat(get(resolving, "/stream", "bean", prompt, globex)).isNotEqualTo(answer).contains(item);
				assertThat(get(resolving, "/call", "bean", prompt, globex)).isNotEqualTo(answer).contains(item);
				assertThat(bought(resolving, item)).isEqualTo(2);
			}
		}
	}

	@Test
	void takesAProxyOfTheDefaultResolverForTheDefault() {
		try (ToolShop proxied = ToolShop.start(WithProxy.class, "server.forward-headers-strategy=framework")) {
			get(proxied, "/call", "bean", "tea", Map.of("X-User", "alice", "X-Forwarded-Host", "acme.example.com"));
			get(proxied, "/call", "bean", "tea", Map.of("X-User", "alice", "X-Forwarded-Host", "globex.example.com"));
			assertThat(bought(proxied, "tea")).isEqualTo(2);
		}
	}

	@Test
	void takesTheSingleCallerOnEachThread() {
		try (ToolShop single = ToolShop.start(Application.class, "idempotent.tool.single-caller=true")) {
			for (String way : List.of("call", "stream", "elsewhere", "executor", "block")) {
				assertThat(chat(single, null, "bean", way, "tea")).contains("tea");
				assertThat(chat(single, null, "inline", way, "tea")).contains("tea");
			}
			assertThat(bought(single, "tea")).isOne();
		}
	}

	private static void awaitAll(CyclicBarrier together) {
		try {
			together.await(30, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static long bought(ToolShop server, String item) {
		return server.bean(Purchases.class).items().stream().filter(item::equals).count();
	}

	/**
	 * Sends a prompt in the one conversation of this test.
	 * @return what the model has got from the tool
	 */
	private static String chat(ToolShop server, @Nullable String user, String client, String way, String item) {
		return get(server, "/" + way, client, item, (user != null) ? Map.of("X-User", user) : Map.of());
	}

	private static String get(ToolShop server, String path, String client, String item, Map<String, String> headers) {
		String port = server.bean(Environment.class).getRequiredProperty("local.server.port");
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path + "?client="
				+ client + "&item=" + URLEncoder.encode(item, StandardCharsets.UTF_8)));
		headers.forEach(request::header);
		try {
			return http.send(request.build(), HttpResponse.BodyHandlers.ofString()).body();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Purchases.Shop.class, Tools.class, Chats.class })
	static class Application {

		@Bean
		ChatModel model() {
			return new Buyer();
		}

		@Bean
		ChatClient client(ChatModel model) {
			return ChatClient.create(model);
		}

		@Bean
		@Scope("prototype")
		ChatClient.Builder builder(ChatModel model) {
			return ChatClient.builder(model);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Application.class)
	static class WithResolver {

		@Bean
		ToolCallerResolver callers() {
			return () -> "alice";
		}

	}

	/**
	 * Its resolver fails where there is no request.
	 */
	@Configuration(proxyBeanMethods = false)
	@Import(Application.class)
	static class WithHeaders {

		@Bean
		ToolCallerResolver callers() {
			return () -> ((ServletRequestAttributes) RequestContextHolder.currentRequestAttributes()).getRequest()
				.getHeader("X-User");
		}

	}

	/**
	 * Its resolver knows the user in the context of a stream alone.
	 */
	@Configuration(proxyBeanMethods = false)
	@Import(Application.class)
	static class WithContext {

		@Bean
		ToolCallerResolver callers() {
			return () -> {
				String user = ToolCallReactiveContextHolder.getContext().getOrDefault("user", "");
				boolean inRequest = RequestContextHolder
					.getRequestAttributes() instanceof ServletRequestAttributes request
						&& "yes".equals(request.getRequest().getHeader("X-Failing"));
				if (inRequest || "failing".equals(user)) {
					throw new IllegalStateException("No user");
				}
				return user;
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Application.class)
	static class WithProxy {

		@Bean
		static BeanPostProcessor proxies() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					return (bean instanceof ToolCallerResolver)
							? ProxyFactory.getProxy(ToolCallerResolver.class, new SingletonTargetSource(bean)) : bean;
				}

			};
		}

	}

	@RestController
	static class Chats {

		private final Tools tools;

		private final ChatModel model;

		private final ChatClient bean;

		private final ChatClient built;

		private final ToolCallerAdvisor advisor;

		Chats(Tools tools, ChatModel model, ChatClient bean, ChatClient.Builder builder, ToolCallerAdvisor advisor) {
			this.tools = tools;
			this.model = model;
			this.bean = bean;
			this.built = builder.build();
			this.advisor = advisor;
		}

		@GetMapping("/call")
		String call(@RequestParam String client, @RequestParam String item) {
			return Objects.requireNonNull(prompt(client, item).call().content());
		}

		@GetMapping(path = "/stream", produces = "text/plain")
		Flux<String> stream(@RequestParam String client, @RequestParam String item) {
			return prompt(client, item).stream().content();
		}

		@GetMapping(path = "/context", produces = "text/plain")
		Flux<String> context(@RequestParam String client, @RequestParam String item,
				@RequestHeader("X-User") String user) {
			return stream(client, item).contextWrite((context) -> context.put("user", user));
		}

		@GetMapping("/block")
		String block(@RequestParam String client, @RequestParam String item) {
			return String.join("",
					Objects.requireNonNull(prompt(client, item).stream().content().collectList().block()));
		}

		@GetMapping("/elsewhere")
		String elsewhere(@RequestParam String client, @RequestParam String item) {
			return CompletableFuture.supplyAsync(() -> block(client, item)).join();
		}

		@GetMapping("/executor")
		String executor(@RequestParam String client, @RequestParam String item) {
			return CompletableFuture.supplyAsync(() -> call(client, item)).join();
		}

		private ChatClient.ChatClientRequestSpec prompt(String client, String item) {
			ChatClient used = switch (client) {
				case "bean" -> this.bean;
				case "builder" -> this.built;
				default -> ChatClient.create(this.model);
			};
			ChatClient.ChatClientRequestSpec prompt = used.prompt(item)
				.tools(this.tools)
				.toolContext(Map.of(ChatMemory.CONVERSATION_ID, "one"));
			return client.equals("advised") ? prompt.advisors(this.advisor) : prompt;
		}

	}

	static class Tools {

		private final Purchases purchases;

		Tools(Purchases purchases) {
			this.purchases = purchases;
		}

		@Tool(name = "buy")
		@Idempotent(from = KeySource.TOOL_CALL, key = "#orderKey", window = "15m", name = "buy-in-chat",
				guarantee = Guarantee.TRANSACTION)
		String buy(String item, @ToolParam(required = false) @Nullable String orderKey, ToolContext context) {
			return item + " " + this.purchases.buy(item, 1).id();
		}

	}

	/**
	 * Calls the tool once, and answers with its result.
	 */
	private static final class Buyer implements ChatModel {

		@Override
		public ChatOptions getOptions() {
			return ToolCallingChatOptions.builder().build();
		}

		@Override
		public Flux<ChatResponse> stream(Prompt prompt) {
			return Flux.just(call(prompt));
		}

		@Override
		public ChatResponse call(Prompt prompt) {
			List<Message> messages = prompt.getInstructions();
			AssistantMessage.Builder<?> answer = AssistantMessage.builder();
			if (messages.get(messages.size() - 1) instanceof ToolResponseMessage result) {
				answer.content(result.getResponses().get(0).responseData().replace("\"", ""));
			}
			else {
				String text = Objects.requireNonNull(prompt.getUserMessage().getText());
				String key = text.startsWith("key/") ? ", \"orderKey\": \"" + text + "\"" : "";
				answer.content("")
					.toolCalls(List.of(new AssistantMessage.ToolCall("call-1", "function", "buy",
							"{\"item\": \"" + text.replace("key/", "") + "\"" + key + "}")));
			}
			return new ChatResponse(List.of(new Generation(answer.build())));
		}

	}

}
