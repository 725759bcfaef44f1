package dev.idempotent.idempotency.tool;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonCreator;
import dev.idempotent.autoconfigure.idempotency.ImportTools;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyClaimLostException;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.ToolCallRefusedException;
import dev.idempotent.idempotency.ToolRefusal;
import dev.idempotent.idempotency.ToolRefusal.Reason;
import dev.idempotent.idempotency.canonical.IncomparableValueException;
import dev.idempotent.idempotency.method.Effects;
import dev.idempotent.idempotency.method.MethodApplication;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaWaitingException;
import dev.idempotent.testing.LostCommitReplies;
import io.modelcontextprotocol.common.McpTransportContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.DefaultChatClient.DefaultChatClientRequestSpec;
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
import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.ai.model.tool.DefaultToolCallingManager;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.model.tool.ToolExecutionResult;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.publisher.Flux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

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
			ToolContext two = new ToolContext(Map.of(ChatMemory.CONVERSATION_ID, "two"));
			assertThat(tools.withContext("tea", one)).isEqualTo("tea 1");
			assertThat(tools.withContext("tea", one)).isEqualTo("tea 1");
			assertThat(tools.withContext("tea", two)).isEqualTo("tea 2");
		});
	}

	@Test
	void runsEqualCallsForTwoTenantsThatTheApplicationPutsIntoTheContext() {
		this.application.run((context) -> {
			logIn("alice");
			Tools tools = context.getBean(Tools.class);
			assertThat(tools.withContext("tea", tenant("acme", 1))).isEqualTo("tea 1");
			assertThat(tools.withContext("tea", tenant("globex", 1))).isEqualTo("tea 2");
			assertThat(tools.withContext("tea", tenant("acme", 1))).isEqualTo("tea 1");
			assertThat(tools.withContext("tea", new ToolContext(Map.of()))).isEqualTo("tea 3");
		});
	}

	@Test
	void runsEqualCallsForTwoTenantsInTheContextOfATransport() {
		this.application.run((context) -> {
			logIn("alice");
			Tools tools = context.getBean(Tools.class);
			McpTransportContext acme = McpTransportContext.create(Map.of("tenant", "acme"));
			McpTransportContext globex = McpTransportContext.create(Map.of("tenant", "globex"));
			assertThat(tools.overTransport("tea", acme)).isEqualTo("tea 1");
			assertThat(tools.overTransport("tea", globex)).isEqualTo("tea 2");
			assertThat(tools.overTransport("tea", acme)).isEqualTo("tea 1");
			assertThat(tools.withContext("rum", new ToolContext(Map.of("exchange", acme)))).isEqualTo("rum 3");
			assertThat(tools.withContext("rum", new ToolContext(Map.of("exchange", globex)))).isEqualTo("rum 4");
		});
	}

	@Test
	void refusesAContextOfATransportThatDoesNotTellItsEntries() {
		this.application.run((context) -> {
			logIn("alice");
			Tools tools = context.getBean(Tools.class);
			assertThatExceptionOfType(ToolCallRefusedException.class)
				.isThrownBy(() -> tools.overTransport("tea", (name) -> "acme"))
				.withMessage(Reason.OPERATOR_NEEDED.sentence())
				.havingCause()
				.isInstanceOf(IncomparableValueException.class)
				.withMessageContaining("'context'")
				.withMessageContaining("cannot be read");
			assertThat(context.getBean(Effects.class).committed()).isEmpty();
		});
	}

	@Test
	void refusesAContextWithAnEntryThatCannotBeCompared() {
		this.application.run((context) -> {
			logIn("alice");
			Tools tools = context.getBean(Tools.class);
			ToolContext service = new ToolContext(Map.of("tenant", (Runnable) () -> {
			}));
			assertThatExceptionOfType(ToolCallRefusedException.class)
				.isThrownBy(() -> tools.withContext("tea", service))
				.withMessage(Reason.OPERATOR_NEEDED.sentence())
				.havingCause()
				.isInstanceOf(IncomparableValueException.class)
				.withMessageContaining("'context'")
				.withMessageContaining("ignore");
			assertThat(context.getBean(Effects.class).committed()).isEmpty();
		});
	}

	@Test
	void leavesOutTheEntriesThatItIsToIgnore() {
		this.application.run((context) -> {
			logIn("alice");
			Tools tools = context.getBean(Tools.class);
			assertThat(tools.withAttempt("tea", tenant("acme", 1))).isEqualTo("tea 1");
			assertThat(tools.withAttempt("tea", tenant("acme", 2))).isEqualTo("tea 1");
			assertThat(tools.withAttempt("tea", tenant("globex", 3))).isEqualTo("tea 2");
		});
	}

	@Test
	void doesNotCompareWhatWasSaidBefore() {
		this.application.run((context) -> {
			logIn("alice");
			Tools tools = context.getBean(Tools.class);
			assertThat(tools.withContext("tea", new ToolContext(Map.of("TOOL_CALL_HISTORY", List.of()))))
				.isEqualTo("tea 1");
			assertThat(tools.withContext("tea", new ToolContext(Map.of("TOOL_CALL_HISTORY", List.of("Buy it.")))))
				.isEqualTo("tea 1");
		});
	}

	@Test
	void doesNotGiveTheResultOfATenantToAnotherUnderOneKey() {
		this.application.run((context) -> {
			logIn("alice");
			Tools tools = context.getBean(Tools.class);
			assertThat(tools.keyedWithContext("tea", "k", tenant("acme", 1))).isEqualTo("tea 1");
			assertThatExceptionOfType(ToolCallRefusedException.class)
				.isThrownBy(() -> tools.keyedWithContext("tea", "k", tenant("globex", 1)))
				.satisfies((ex) -> assertThat(ex.getRefusal().reason()).isEqualTo(Reason.OTHER_ARGUMENTS));
			assertThat(tools.keyedWithContext("tea", "k", tenant("acme", 1))).isEqualTo("tea 1");
		});
	}

	private static ToolContext tenant(String tenant, int attempt) {
		return new ToolContext(Map.of("tenant", tenant, "attempt", attempt));
	}

	@Test
	void prefersTheConversationInTheContextOfTheCallItself() {
		this.application.run((context) -> {
			Tools tools = context.getBean(Tools.class);
			ToolContext two = new ToolContext(Map.of(ChatMemory.CONVERSATION_ID, "two"));
			assertThat(during(ToolCall.inConversation("one"), () -> tools.withContext("tea", two))).isEqualTo("tea 1");
			assertThat(tools.withContext("tea", two)).isEqualTo("tea 1");
		});
	}

	private static <T> T during(ToolCall call, Supplier<T> made) {
		ToolCall outer = ToolCall.bind(call);
		try {
			return made.get();
		}
		finally {
			ToolCall.bind(outer);
		}
	}

	@Test
	void keepsTheClassOfTheBeanThatCallsTools() {
		MethodApplication.with(WithOwnManager.class)
			.withConfiguration(AutoConfigurations.of(ImportTools.CLASS))
			.run((context) -> {
				assertThat(context).hasSingleBean(OwnManager.class).hasSingleBean(NeedsOwnManager.class);
				assertThat(chat(context, "one", call(LEASED, "tea"), call(LEASED, "tea"))).containsExactly("\"tea 1\"",
						"\"tea 1\"");
			});
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void leavesABeanOfAFinalClassAsItIs(CapturedOutput output) {
		MethodApplication.with(WithFinalManager.class)
			.withConfiguration(AutoConfigurations.of(ImportTools.CLASS))
			.run((context) -> assertThat(context).hasSingleBean(DefaultToolCallingManager.class));
		assertThat(output).contains("The tools that the bean 'finalManager' calls do not know the conversation");
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

	@ParameterizedTest
	@ValueSource(strings = { "single-caller", "default", "null" })
	void tellsTheSingleCallerFromEachNamedOne(String name) {
		AtomicReference<@Nullable String> caller = new AtomicReference<>();
		this.application.withPropertyValues("idempotent.tool.single-caller=true")
			.withBean(ToolCallerResolver.class, () -> caller::get)
			.run((context) -> {
				Tools tools = context.getBean(Tools.class);
				assertThat(tools.keyed("tea", "k")).isEqualTo("tea 1");
				caller.set(name);
				assertThat(tools.keyed("tea", "k")).isEqualTo("tea 2");
				assertThat(tools.leased("tea")).isEqualTo("tea 3");
				caller.set(" ");
				assertThat(tools.keyed("tea", "k")).isEqualTo("tea 1");
				assertThat(tools.leased("tea")).isEqualTo("tea 4");
			});
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
	void forgetsWhatAnEarlierAttemptOfTheCallHasReported() {
		this.application.run((context) -> {
			Tools tools = context.getBean(Tools.class);
			ToolCall call = ToolCall.ofClient(LEASED, List.of());
			assertThatExceptionOfType(ToolCallRefusedException.class)
				.isThrownBy(() -> during(call, () -> tools.leased("tea")));
			assertThat(call.refusal()).isNotNull();
			call.failed("sold out");
			call.replayed();
			logIn("alice");
			assertThat(during(call, () -> tools.leased("tea"))).isEqualTo("tea 1");
			assertThat(call.refusal()).isNull();
			assertThat(call.refusalText()).isNull();
			assertThat(call.failedResult()).isNull();
			assertThat(call.isReplayed()).isFalse();
		});
	}

	@Test
	void tellsThatItIsUnknownWhetherACommitWithoutAReplyWasMade() {
		this.application.withBean(LostCommitReplies.OfOneThread.class).run((context) -> {
			logIn("alice");
			Tools tools = context.getBean(Tools.class);
			LostCommitReplies.OfOneThread.expect();
			assertThatExceptionOfType(ToolCallRefusedException.class).isThrownBy(() -> tools.recorded("tea"))
				.satisfies((ex) -> assertThat(ex.getRefusal().reason()).isEqualTo(Reason.OUTCOME_UNKNOWN));
			assertThat(tools.recorded("tea")).isEqualTo("tea 1");
			assertThat(context.getBean(Effects.class).committed()).containsExactly("tea");
		});
	}

	@Test
	void throwsTheFailureOfWorkThatWasRolledBack() {
		this.application.run((context) -> {
			logIn("alice");
			Tools tools = context.getBean(Tools.class);
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(
					() -> during(ToolCall.ofClient(RECORDED, List.of()), () -> tools.recorded("x".repeat(101))));
		});
	}

	@Test
	void doesNotTellToWaitForAStoreThatAnswers() {
		Supplier<Claim> rejected = () -> {
			throw new IdempotencyStoreException("The table is too small", null);
		};
		this.application
			.withBean("rejecting", IdempotencyStore.class, () -> new Answering(rejected),
					(bean) -> bean.setPrimary(true))
			.run((context) -> {
				logIn("alice");
				Tools tools = context.getBean(Tools.class);
				assertThatExceptionOfType(ToolCallRefusedException.class).isThrownBy(() -> tools.leased("tea"))
					.withMessage(Reason.OPERATOR_NEEDED.sentence())
					.havingCause()
					.isInstanceOf(IdempotencyStoreException.class)
					.withMessage("The table is too small");
			});
	}

	@Test
	void doesNotTellToWaitForTheEndOfAReadOnlyTransaction() {
		this.application.run((context) -> {
			logIn("alice");
			Tools tools = context.getBean(Tools.class);
			TransactionTemplate readOnly = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			readOnly.setReadOnly(true);
			assertThatExceptionOfType(ToolCallRefusedException.class)
				.isThrownBy(() -> readOnly.executeWithoutResult((status) -> tools.recorded("tea")))
				.withMessage(Reason.OPERATOR_NEEDED.sentence())
				.havingCause()
				.isInstanceOf(IdempotencyStoreException.class)
				.withMessageContaining("a read-only transaction");
		});
	}

	@Test
	void tellsThatAResultThatCannotBeReadIsNotKept() {
		StoredResponse damaged = StoredResponse.of("damaged".getBytes(StandardCharsets.UTF_8));
		this.application
			.withBean("damaged", IdempotencyStore.class,
					() -> new Answering(() -> new Claim.Completed(damaged, Duration.ofMinutes(1))),
					(bean) -> bean.setPrimary(true))
			.run((context) -> {
				logIn("alice");
				assertThat(chat(context, null, call(LEASED, "tea"))).containsExactly(Reason.RESULT_NOT_KEPT.sentence());
			});
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void logsOnceWhyTheCallsOfAToolAreRefused(CapturedOutput output) {
		this.application.withBean("away", IdempotencyStore.class, Away::new, (bean) -> bean.setPrimary(true))
			.run((context) -> {
				logIn("alice");
				chat(context, null, call(LEASED, "tea"), call(LEASED, "tea"), call(LEASED, "rum"));
			});
		assertThat(output).containsOnlyOnce("A call of the tool 'leased' was refused (STORE_UNAVAILABLE)")
			.containsOnlyOnce(IdempotencyStoreUnavailableException.class.getName() + ": The store is away");
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

	@ParameterizedTest
	@MethodSource("refusalsOfWork")
	void tellsAModelWhyTheWorkOfItsToolWasRefused(RuntimeException refusal, Reason reason) {
		this.application.run((context) -> {
			logIn("alice");
			context.getBean(Tools.class).refuse(refusal);
			assertThat(chat(context, null, call("refused", "tea"))).containsExactly(reason.sentence());
			context.getBean(Tools.class).refuse(new CompletionException(refusal));
			assertThat(chat(context, null, call("refused", "tea"))).containsExactly(reason.sentence());
			context.getBean(Tools.class).refuse(new IllegalStateException("No luck", refusal));
			assertThat(chat(context, null, call("refused", "tea"))).containsExactly("No luck");
			context.getBean(Tools.class).refuse(null);
			assertThat(chat(context, null, call("refused", "tea"))).containsExactly("\"tea 1\"");
		});
	}

	static Stream<Arguments> refusalsOfWork() {
		IdempotencyKey key = IdempotencyKey.of(IdempotencyKey.Kind.METHOD, "shop", "", "pay", "1");
		Duration wait = Duration.ofSeconds(1);
		return Stream.of(Arguments.of(new IdempotencyPendingException(key, wait), Reason.IN_PROGRESS),
				Arguments.of(new SagaWaitingException(key, "bank", wait, wait), Reason.IN_PROGRESS),
				Arguments.of(new IdempotencyMismatchException(key), Reason.OTHER_ARGUMENTS),
				Arguments.of(new IdempotencyResultException("Not stored", null), Reason.OPERATOR_NEEDED),
				Arguments.of(refused(Reason.RESULT_NOT_KEPT), Reason.OPERATOR_NEEDED),
				Arguments.of(refused(Reason.CALLER_UNKNOWN), Reason.OPERATOR_NEEDED),
				Arguments.of(refused(Reason.KEY_INVALID), Reason.OPERATOR_NEEDED),
				Arguments.of(refused(Reason.STORE_UNAVAILABLE), Reason.OUTCOME_UNKNOWN),
				Arguments.of(new IdempotencyStoreUnavailableException("Redis", null), Reason.OUTCOME_UNKNOWN),
				Arguments.of(new IdempotencyClaimLostException(key), Reason.OUTCOME_UNKNOWN),
				Arguments.of(new IdempotencyStoreException("No table", null), Reason.OPERATOR_NEEDED),
				Arguments.of(new SagaCompensatedException(key, "java.net.ConnectException"), Reason.UNDONE),
				Arguments.of(new SagaHaltedException(key), Reason.OPERATOR_NEEDED));
	}

	private static ToolCallRefusedException refused(Reason reason) {
		return new ToolCallRefusedException(new ToolRefusal(reason, "pay", null), reason.sentence(), null);
	}

	@Test
	void doesNotTellThatWorkWasDoneWhichIsRolledBackWithItsResult() {
		this.application.run((context) -> {
			logIn("alice");
			assertThat(chat(context, null, call("seating", "tea"))).containsExactly(Reason.OPERATOR_NEEDED.sentence());
			assertThat(context.getBean(Effects.class).committed()).isEmpty();
		});
	}

	@Test
	void tellsNothingOfACallOfWhichAPartWasRefused() {
		assertThat(List.of(Reason.IN_PROGRESS, Reason.OTHER_ARGUMENTS, Reason.OUTCOME_UNKNOWN, Reason.UNDONE,
				Reason.OPERATOR_NEEDED))
			.allSatisfy((reason) -> assertThat(reason.sentence()).doesNotContain("Nothing was done")
				.doesNotContain("not made", "carried out", "what it had done"));
	}

	@Test
	void tellsAModelThatAMethodWhichItsToolCallsWasCalledWithOtherArguments() {
		this.application.run((context) -> {
			logIn("alice");
			assertThat(chat(context, null, call("booking", "tea"), call("booking", "rum"), call("booking", "tea")))
				.containsExactly("\"tea 1\"", Reason.OTHER_ARGUMENTS.sentence(), "\"tea 1\"");
			assertThat(context.getBean(Effects.class).committed()).containsExactly("tea");
		});
	}

	@Test
	void tellsAModelWhyAToolThatItsToolCallsHasRefused() {
		this.application.run((context) -> {
			logIn("alice");
			Tools tools = context.getBean(Tools.class);
			tools.keyed("tea", "k");
			tools.call(() -> tools.keyed("rum", "k"));
			assertThat(chat(context, null, call("refused", "tea"))).containsExactly(Reason.OTHER_ARGUMENTS.sentence());
		});
	}

	@Test
	void tellsThatAnOperatorIsNeededForAResultThatCannotBeStored() {
		this.application.run((context) -> {
			logIn("alice");
			assertThat(chat(context, null, call("unwritable", "tea")))
				.containsExactly(Reason.OPERATOR_NEEDED.sentence());
			assertThat(context.getBean(Effects.class).committed()).isEmpty();
		});
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void refusesAStreamThatDoesNotHandOnTheCaller(CapturedOutput output) {
		this.application.run((context) -> {
			logIn("alice");
			ScriptedModel model = new ScriptedModel(call("withContext", "tea"));
			prompt(context, model, "one").stream().content().collectList().block();
			assertThat(model.answers).containsExactly(Reason.CALLER_UNKNOWN.sentence());
		});
		assertThat(output).contains("A call of the tool 'withContext' was refused (CALLER_UNKNOWN)")
			.contains("add the bean of type ToolCallerAdvisor to its advisors");
	}

	@ParameterizedTest
	@ValueSource(strings = { "alice", "" })
	void knowsTheCallerOfAThreadInItsStream(String user) {
		this.application.run((context) -> {
			if (!user.isEmpty()) {
				logIn(user);
			}
			ScriptedModel model = new ScriptedModel(call("withContext", "tea"), call(LEASED, "tea"));
			prompt(context, model, "one").advisors(context.getBean(ToolCallerAdvisor.class))
				.stream()
				.content()
				.collectList()
				.block();
			assertThat(chat(context, "one", call("withContext", "tea"), call(LEASED, "tea")))
				.containsExactlyElementsOf(model.answers);
			assertThat(context.getBean(Effects.class).committed()).hasSize(2);
		});
	}

	@Test
	void refusesACallOnAThreadWithoutARequestOfAContextWithinThatOfItsTools() {
		this.application.run((context) -> {
			logIn("alice");
			assertThat(chat(context, "one", call(LEASED, "tea"))).containsExactly("\"tea 1\"");
			new WebApplicationContextRunner().withParent(context)
				.run((web) -> assertThat(chat(context, "one", call(LEASED, "tea")))
					.containsExactly(Reason.CALLER_UNKNOWN.sentence()));
		});
	}

	@Test
	void doesNotEndAStreamThatNeedsNoCaller() {
		MethodApplication.with()
			.withConfiguration(AutoConfigurations.of(ImportTools.CLASS))
			.withBean("one", ToolCallerResolver.class, () -> () -> "alice")
			.withBean("other", ToolCallerResolver.class, () -> () -> "bob")
			.run((context) -> {
				ToolCallerAdvisor advisor = context.getBean(ToolCallerAdvisor.class);
				ScriptedModel model = new ScriptedModel();
				assertThat(ChatClient.create(model)
					.prompt("Hello.")
					.advisors(advisor)
					.stream()
					.content()
					.collectList()
					.block()).containsExactly("Done.");
			});
	}

	@Test
	void keepsTheDefaultsOfAClientThatIsABean() {
		ScriptedModel model = new ScriptedModel();
		this.application
			.withBean(ChatClient.class,
					() -> ChatClient.builder(model)
						.defaultAdvisors((advisors) -> advisors.param("tenant", "acme"))
						.defaultSystem((system) -> system.param("today", "Monday").metadata("origin", "shop"))
						.defaultUser((user) -> user.param("item", "tea").metadata("origin", "form"))
						.build())
			.run((context) -> {
				DefaultChatClientRequestSpec prompt = (DefaultChatClientRequestSpec) context.getBean(ChatClient.class)
					.prompt();
				assertThat(prompt.getAdvisors()).singleElement().isInstanceOf(ToolCallerAdvisor.class);
				assertThat(prompt.getAdvisorParams()).containsEntry("tenant", "acme");
				assertThat(prompt.getSystemParams()).containsEntry("today", "Monday");
				assertThat(prompt.getSystemMetadata()).containsEntry("origin", "shop");
				assertThat(prompt.getUserParams()).containsEntry("item", "tea");
				assertThat(prompt.getUserMetadata()).containsEntry("origin", "form");
			});
	}

	@Test
	void leavesABuilderAsABean() {
		ChatClient.Builder builder = mock();
		this.application.run((context) -> {
			ToolCallerAdvisor advisor = context.getBean(ToolCallerAdvisor.class);
			assertThat(
					new ChatClientBeanPostProcessor(() -> advisor).postProcessAfterInitialization(builder, "builder"))
				.isSameAs(builder);
			verify(builder).defaultAdvisors(advisor);
		});
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
		assertThat(prompt(context, model, conversation).call().content()).isEqualTo("Done.");
		return model.answers;
	}

	private static ChatClient.ChatClientRequestSpec prompt(ApplicationContext context, ScriptedModel model,
			@Nullable String conversation) {
		ChatClient.ChatClientRequestSpec request = ChatClient.create(model)
			.prompt("Buy it.")
			.tools(context.getBean(Tools.class))
			.tools(context.getBeansOfType(BookingTools.class).values().toArray())
			.advisors(
					ToolCallingAdvisor.builder().toolCallingManager(context.getBean(ToolCallingManager.class)).build());
		return (conversation != null) ? request.toolContext(Map.of(ChatMemory.CONVERSATION_ID, conversation)) : request;
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Tools tools(Effects effects) {
			return new Tools(effects);
		}

		@Bean
		Bookings bookings(Effects effects) {
			return new Bookings(effects);
		}

		@Bean
		BookingTools bookingTools(Bookings bookings) {
			return new BookingTools(bookings);
		}

		@Bean
		ToolCallingManager toolCallingManager() {
			return ToolCallingManager.builder().build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WithOwnManager {

		@Bean
		Tools tools(Effects effects) {
			return new Tools(effects);
		}

		@Bean
		OwnManager ownManager() {
			return new OwnManager();
		}

		@Bean
		NeedsOwnManager needsOwnManager(OwnManager manager) {
			return new NeedsOwnManager(manager);
		}

	}

	record NeedsOwnManager(OwnManager manager) {
	}

	static class OwnManager implements ToolCallingManager {

		private final ToolCallingManager manager = ToolCallingManager.builder().build();

		@Override
		public List<ToolDefinition> resolveToolDefinitions(ToolCallingChatOptions options) {
			return this.manager.resolveToolDefinitions(options);
		}

		@Override
		public ToolExecutionResult executeToolCalls(Prompt prompt, ChatResponse response) {
			return this.manager.executeToolCalls(prompt, response);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WithFinalManager {

		@Bean
		DefaultToolCallingManager finalManager() {
			return DefaultToolCallingManager.builder().build();
		}

	}

	static class Bookings {

		private final Effects effects;

		Bookings(Effects effects) {
			this.effects = effects;
		}

		@Idempotent(key = "'table'", name = "book-table", guarantee = Guarantee.LEASE)
		String book(String item) {
			return item + " " + this.effects.add(item);
		}

		@Idempotent(key = "'chair'", name = "book-chair", guarantee = Guarantee.TRANSACTION)
		Unreadable bookChair(String item) {
			return new Unreadable(this.effects.add(item));
		}

	}

	/**
	 * Written as JSON, and not read back.
	 */
	static class Unreadable {

		private final int id;

		Unreadable(int id) {
			this.id = id;
		}

		@JsonCreator
		@SuppressWarnings("DoNotCallSuggester")
		static Unreadable of(int id) {
			throw new IllegalArgumentException("Unreadable " + id);
		}

		public int getId() {
			return this.id;
		}

	}

	static class BookingTools {

		private final Bookings bookings;

		BookingTools(Bookings bookings) {
			this.bookings = bookings;
		}

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "booking", guarantee = Guarantee.LEASE)
		String booking(String item) {
			return this.bookings.book(item);
		}

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "seating", guarantee = Guarantee.TRANSACTION)
		String seating(String item) {
			return item + " " + this.bookings.bookChair(item).getId();
		}

	}

	static class Tools {

		private final Effects effects;

		private boolean failed;

		private @Nullable RuntimeException refusal;

		private Runnable inner = () -> {
		};

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
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "withAttempt", ignore = "/context/attempt",
				guarantee = Guarantee.LEASE)
		String withAttempt(String item, ToolContext context) {
			return item + " " + this.effects.add(item);
		}

		@McpTool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "overTransport", guarantee = Guarantee.LEASE)
		String overTransport(String item, McpTransportContext context) {
			return item + " " + this.effects.add(item);
		}

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, key = "#orderKey", window = "15m", name = "keyedWithContext",
				guarantee = Guarantee.LEASE)
		String keyedWithContext(String item, String orderKey, ToolContext context) {
			return item + " " + this.effects.add(item);
		}

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, key = "#orderKey", window = "15m", name = "keyed",
				guarantee = Guarantee.LEASE)
		String keyed(String item, @ToolParam(required = false) @Nullable String orderKey) {
			return item + " " + this.effects.add(item);
		}

		void refuse(@Nullable RuntimeException with) {
			this.refusal = with;
		}

		void call(Runnable other) {
			this.inner = other;
		}

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "refused", guarantee = Guarantee.LEASE)
		String refused(String item) {
			if (this.refusal != null) {
				throw this.refusal;
			}
			this.inner.run();
			return item + " " + this.effects.add(item);
		}

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "unwritable", guarantee = Guarantee.TRANSACTION)
		Unreadable unwritable(String item) {
			return new Unreadable(this.effects.add(item));
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
		public Flux<ChatResponse> stream(Prompt prompt) {
			return Flux.just(call(prompt));
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

	/**
	 * Answers each claim in the same way.
	 */
	private static final class Answering extends ForwardingStore {

		private final Supplier<Claim> answer;

		Answering(Supplier<Claim> answer) {
			this.answer = answer;
		}

		@Override
		public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
			return this.answer.get();
		}

		@Override
		protected IdempotencyStore target() {
			throw new IllegalStateException("Nothing is claimed");
		}

		@Override
		public String describe() {
			return "Answering";
		}

	}

}
