package dev.idempotent.idempotency.tool;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;

import dev.idempotent.autoconfigure.idempotency.ImportTools;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.ToolCallRefusedException;
import dev.idempotent.idempotency.ToolRefusal;
import dev.idempotent.idempotency.ToolRefusal.Reason;
import dev.idempotent.idempotency.method.Effects;
import dev.idempotent.idempotency.method.MethodApplication;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tools of this process, called in Spring AI's own loop by a scripted model.
 */
class ChatToolsTests {

	private static final String LEASED = "leased";

	private static final String RECORDED = "recorded";

	private final ApplicationContextRunner application = MethodApplication.with(Application.class)
		.withConfiguration(AutoConfigurations.of(ImportTools.CLASS));

	@AfterEach
	void logOut() {
		SecurityContextHolder.clearContext();
	}

	@ParameterizedTest
	@ValueSource(strings = { LEASED, RECORDED })
	void runsACallOnceThatTheModelRequestsTwice(String tool) {
		this.application.run((context) -> {
			logIn("alice");
			List<String> answers = chat(context, null, call(tool, "tea"), call(tool, "tea"));
			assertThat(answers).containsExactly("\"tea 1\"", "\"tea 1\"");
			assertThat(context.getBean(Effects.class).committed()).containsExactly("tea");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { LEASED, RECORDED })
	void runsEqualCallsOfTwoConversations(String tool) {
		this.application.run((context) -> {
			assertThat(chat(context, "one", call(tool, "tea"), call(tool, "tea"))).containsExactly("\"tea 1\"",
					"\"tea 1\"");
			assertThat(chat(context, "two", call(tool, "tea"))).containsExactly("\"tea 2\"");
			assertThat(chat(context, "one", call(tool, "tea"))).containsExactly("\"tea 1\"");
			assertThat(context.getBean(Effects.class).committed()).hasSize(2);
		});
	}

	@Test
	void runsEqualCallsOfTwoCallersInOneConversation() {
		this.application.run((context) -> {
			logIn("alice");
			chat(context, "one", call(LEASED, "tea"));
			logIn("bob");
			assertThat(chat(context, "one", call(LEASED, "tea"))).containsExactly("\"tea 2\"");
		});
	}

	@Test
	void findsTheConversationInTheContextThatAToolTakes() {
		this.application.run((context) -> {
			Tools tools = context.getBean(Tools.class);
			ToolContext one = new ToolContext(Map.of(ChatMemory.CONVERSATION_ID, "one"));
			ToolContext another = new ToolContext(Map.of(ChatMemory.CONVERSATION_ID, "one", "attempt", 2));
			ToolContext two = new ToolContext(Map.of(ChatMemory.CONVERSATION_ID, "two"));
			assertThat(tools.withContext("tea", one)).isEqualTo("tea 1");
			assertThat(tools.withContext("tea", another)).isEqualTo("tea 1");
			assertThat(tools.withContext("tea", two)).isEqualTo("tea 2");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "default", " " })
	void refusesACallWithoutCallerAndConversation(String conversation) {
		this.application.run((context) -> {
			String id = conversation.isEmpty() ? null : conversation;
			assertThat(chat(context, id, call(LEASED, "tea"))).containsExactly(Reason.CALLER_UNKNOWN.sentence());
			assertThat(context.getBean(Effects.class).committed()).isEmpty();
		});
	}

	@Test
	void runsCallsOfASingleCaller() {
		this.application.withPropertyValues("idempotent.tool.single-caller=true")
			.run((context) -> assertThat(chat(context, null, call(LEASED, "tea"), call(LEASED, "tea")))
				.containsExactly("\"tea 1\"", "\"tea 1\""));
	}

	@Test
	void asksTheApplicationForTheCaller() {
		this.application.withBean(ToolCallerResolver.class, () -> () -> "alice")
			.run((context) -> assertThat(chat(context, null, call(LEASED, "tea"), call(LEASED, "tea")))
				.containsExactly("\"tea 1\"", "\"tea 1\""));
	}

	@Test
	void refusesACallWhoseCallerCannotBeResolved() {
		this.application.withPropertyValues("idempotent.tool.single-caller=true")
			.withBean(ToolCallerResolver.class, () -> () -> {
				throw new IllegalStateException("no directory");
			})
			.run((context) -> assertThat(chat(context, null, call(LEASED, "tea")))
				.containsExactly(Reason.CALLER_UNKNOWN.sentence()));
	}

	@Test
	void tellsAModelThatItsKeyBelongsToAnotherCall() {
		this.application.run((context) -> {
			logIn("alice");
			assertThat(chat(context, null, "{\"item\": \"tea\", \"orderKey\": \"k\"}",
					"{\"item\": \"rum\", \"orderKey\": \"k\"}", "{\"item\": \"tea\", \"orderKey\": \"l\"}"))
				.containsExactly("\"tea 1\"", Reason.OTHER_ARGUMENTS.sentence(), "\"tea 2\"");
		});
	}

	@Test
	void throwsWhatRefusedItToCode() {
		this.application.run((context) -> {
			logIn("alice");
			Tools tools = context.getBean(Tools.class);
			tools.keyed("tea", "k");
			assertThatExceptionOfType(ToolCallRefusedException.class).isThrownBy(() -> tools.keyed("rum", "k"))
				.withCauseInstanceOf(IdempotencyMismatchException.class)
				.satisfies((ex) -> assertThat(ex.getRefusal())
					.isEqualTo(new ToolRefusal(Reason.OTHER_ARGUMENTS, "keyed", null)));
		});
	}

	@Test
	void runsAgainAfterAFailure() {
		this.application.run((context) -> {
			logIn("alice");
			assertThat(chat(context, null, call("failing", "tea"), call("failing", "tea"), call("failing", "tea")))
				.containsExactly("sold out", "\"tea 2\"", "\"tea 2\"");
			assertThat(context.getBean(Effects.class).committed()).hasSize(1);
		});
	}

	@Test
	void doesNothingWhileTheStoreIsAway() {
		this.application.withBean("away", IdempotencyStore.class, Away::new, (bean) -> bean.setPrimary(true))
			.run((context) -> {
				logIn("alice");
				assertThat(chat(context, null, call(LEASED, "tea"), call(RECORDED, "tea")))
					.containsExactly(Reason.STORE_UNAVAILABLE.sentence(), "\"tea 1\"");
			});
	}

	@Test
	void speaksInTheWordsOfTheApplication() {
		this.application
			.withBean(ToolRefusalRenderer.class,
					() -> (refusal) -> refusal.operation() + " " + refusal.reason() + ": ask order-status")
			.run((context) -> assertThat(chat(context, null, call(LEASED, "tea")))
				.containsExactly("leased CALLER_UNKNOWN: ask order-status"));
	}

	@Test
	void speaksInItsOwnWordsIfTheApplicationFails() {
		this.application.withBean(ToolRefusalRenderer.class, () -> (refusal) -> {
			throw new IllegalStateException("no words");
		})
			.run((context) -> assertThat(chat(context, null, call(LEASED, "tea")))
				.containsExactly(Reason.CALLER_UNKNOWN.sentence()));
	}

	@Test
	void hasOneSentenceForEachReasonThatSaysWhatToDo() {
		assertThat(Reason.values()).allSatisfy((reason) -> assertThat(reason.sentence()).endsWith(".")
			.doesNotContain(". ")
			.containsAnyOf("do not repeat", "repeat exactly this call", "repeat this call with a valid key"));
	}

	private static void logIn(String user) {
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken(user, "", "USER"));
	}

	private static String call(String tool, String item) {
		return tool + "{\"item\": \"" + item + "\"}";
	}

	/**
	 * Lets the model request calls, one in each turn.
	 * @param calls the name of the tool, by default that with a key, and its arguments
	 * @return what the model gets
	 */
	private static List<String> chat(ApplicationContext context, @Nullable String conversation, String... calls) {
		ScriptedModel model = new ScriptedModel(calls);
		ChatClient.ChatClientRequestSpec request = ChatClient.create(model)
			.prompt("Buy it.")
			.tools(context.getBean(Tools.class))
			.advisors(
					ToolCallingAdvisor.builder().toolCallingManager(context.getBean(ToolCallingManager.class)).build());
		if (conversation != null) {
			request = request.toolContext(Map.of(ChatMemory.CONVERSATION_ID, conversation));
		}
		assertThat(request.call().content()).isEqualTo("Done.");
		return model.answers;
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Tools tools(Effects effects) {
			return new Tools(effects);
		}

		@Bean
		ToolCallingManager toolCallingManager() {
			return ToolCallingManager.builder().build();
		}

	}

	static class Tools {

		private final Effects effects;

		private boolean failed;

		Tools(Effects effects) {
			this.effects = effects;
		}

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "leased", guarantee = Guarantee.LEASE)
		String leased(String item) {
			return item + " " + this.effects.add(item);
		}

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "recorded", guarantee = Guarantee.TRANSACTION)
		String recorded(String item) {
			return item + " " + this.effects.add(item);
		}

		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "withContext", guarantee = Guarantee.LEASE)
		@Tool
		String withContext(String item, ToolContext context) {
			return item + " " + this.effects.add(item);
		}

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, key = "#orderKey", window = "15m", name = "keyed",
				guarantee = Guarantee.LEASE)
		String keyed(String item, @ToolParam(required = false) @Nullable String orderKey) {
			return item + " " + this.effects.add(item);
		}

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "failing", guarantee = Guarantee.TRANSACTION)
		String failing(String item) {
			int run = this.effects.add(item);
			if (!this.failed) {
				this.failed = true;
				throw new IllegalStateException("sold out");
			}
			return item + " " + run;
		}

	}

	/**
	 * Requests each call under a new id, as models do.
	 */
	private static final class ScriptedModel implements ChatModel {

		private final Deque<String> calls = new ArrayDeque<>();

		private final List<String> answers = new ArrayList<>();

		private int ids;

		ScriptedModel(String... calls) {
			this.calls.addAll(List.of(calls));
		}

		@Override
		public ChatOptions getOptions() {
			return ToolCallingChatOptions.builder().build();
		}

		@Override
		public ChatResponse call(Prompt prompt) {
			if (prompt.getInstructions()
				.get(prompt.getInstructions().size() - 1) instanceof ToolResponseMessage message) {
				this.answers.add(message.getResponses().get(0).responseData());
			}
			AssistantMessage.Builder<?> answer = AssistantMessage.builder();
			if (this.calls.isEmpty()) {
				answer.content("Done.");
			}
			else {
				String next = this.calls.remove();
				int arguments = next.indexOf('{');
				answer.content("")
					.toolCalls(List.of(new AssistantMessage.ToolCall("call-" + ++this.ids, "function",
							(arguments == 0) ? "keyed" : next.substring(0, arguments), next.substring(arguments))));
			}
			return new ChatResponse(List.of(new Generation(answer.build())));
		}

	}

	private static final class Away extends ForwardingStore {

		@Override
		protected IdempotencyStore target() {
			throw new IdempotencyStoreUnavailableException("The store is away", null);
		}

		@Override
		public String describe() {
			return "Away";
		}

	}

}
