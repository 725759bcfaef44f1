package dev.idempotent.saga.engine;

import java.util.Set;

import dev.idempotent.idempotency.IdempotencyContext.Answer;
import dev.idempotent.idempotency.IdempotencyContext.Calls;
import dev.idempotent.idempotency.IdempotencyContext.Evidence;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.engine.StepVerdict.Attempt;
import dev.idempotent.saga.engine.StepVerdict.Rules;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The table of what an attempt proves, forward and backward.
 */
class StepVerdictTests {

	private static final Rules RULES = new Rules(Set.of(403, 409), Set.of(Declined.class), Set.of(404, 409));

	private final IllegalStateException failure = new IllegalStateException();

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			# status | first | replayed | evidence | honours | action  | undo
			  402    | true  | false    | NONE     | false   | REFUSED | REFUSED
			  403    | true  | false    | NONE     | false   | REFUSED | UNKNOWN
			  404    | true  | false    | NONE     | false   | REFUSED | ALREADY_UNDONE
			  410    | true  | false    | NONE     | false   | REFUSED | REFUSED
			  429    | true  | false    | NONE     | false   | UNKNOWN | UNKNOWN
			  401    | true  | true     | RECEIPT  | true    | UNKNOWN | UNKNOWN
			  503    | true  | true     | RECEIPT  | true    | UNKNOWN | UNKNOWN
			  302    | true  | true     | RECEIPT  | true    | UNKNOWN | UNKNOWN
			# A refusal after an attempt without an answer needs the word of the service.
			  402    | false | false    | NONE     | false   | UNKNOWN | UNKNOWN
			  402    | false | true     | NONE     | false   | REFUSED | REFUSED
			  402    | false | false    | RECEIPT  | false   | REFUSED | REFUSED
			  402    | false | false    | PROVEN   | false   | UNKNOWN | UNKNOWN
			  402    | false | false    | NONE     | true    | REFUSED | REFUSED
			  403    | false | false    | NONE     | true    | REFUSED | UNKNOWN
			  410    | false | false    | NONE     | true    | UNKNOWN | UNKNOWN
			  404    | false | false    | NONE     | true    | UNKNOWN | ALREADY_UNDONE
			# A status of a request in progress may be about the same request.
			  409    | true  | false    | NONE     | false   | UNKNOWN | UNKNOWN
			  409    | true  | false    | PROVEN   | true    | UNKNOWN | UNKNOWN
			  409    | false | false    | NONE     | true    | UNKNOWN | UNKNOWN
			  409    | false | false    | NONE     | false   | UNKNOWN | UNKNOWN
			  422    | true  | false    | NONE     | false   | UNKNOWN | UNKNOWN
			  422    | false | false    | PROVEN   | true    | UNKNOWN | UNKNOWN
			  423    | true  | false    | NONE     | true    | UNKNOWN | UNKNOWN
			  422    | true  | false    | RECEIPT  | false   | REFUSED | REFUSED
			  422    | false | true     | NONE     | true    | REFUSED | REFUSED
			  409    | true  | true     | NONE     | true    | REFUSED | ALREADY_UNDONE
			  409    | true  | false    | RECEIPT  | true    | REFUSED | ALREADY_UNDONE
			  409    | true  | false    | OPEN     | true    | UNKNOWN | UNKNOWN
			# Without the proof that the step requires, nothing is proven.
			  402    | true  | true     | MISSING  | true    | UNKNOWN | UNKNOWN
			  404    | true  | true     | MISSING  | true    | UNKNOWN | UNKNOWN
			  402    | true  | true     | OPEN     | true    | UNKNOWN | UNKNOWN
			  402    | true  | false    | PROVEN   | false   | REFUSED | REFUSED
			""")
	void dependsOnTheResponse(int status, boolean first, boolean replayed, Evidence evidence, boolean honours,
			StepVerdict action, StepVerdict undo) {
		Answer answer = new Answer(status, replayed, evidence, false, null, honours, false);
		assertThat(StepVerdict.ofAction(failed(answer, first))).isEqualTo(action);
		assertThat(StepVerdict.ofUndo(failed(answer, first))).isEqualTo(undo);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			# status | first | honours | action  | undo
			  400    | true  | false   | REFUSED | ALREADY_UNDONE
			  409    | true  | false   | REFUSED | ALREADY_UNDONE
			  422    | false | true    | REFUSED | ALREADY_UNDONE
			  422    | false | false   | UNKNOWN | ALREADY_UNDONE
			  200    | true  | false   | REFUSED | UNKNOWN
			  302    | true  | true    | UNKNOWN | UNKNOWN
			  503    | true  | true    | UNKNOWN | UNKNOWN
			""")
	void dependsOnTheConditionThatTheStepNames(int status, boolean first, boolean honours, StepVerdict action,
			StepVerdict undo) {
		Answer answer = new Answer(status, false, Evidence.NONE, false, null, honours, true);
		for (Integer thrown : new Integer[] { status, null }) {
			Attempt attempt = new Attempt(this.failure, thrown, new Calls(1, 1, 1, 1, answer), first, RULES, true,
					false);
			assertThat(StepVerdict.ofAction(attempt)).isEqualTo(action);
			assertThat(StepVerdict.ofUndo(attempt)).isEqualTo(undo);
		}
	}

	@Test
	void isDoneIfNoCallIsOpen() {
		assertThat(judge(null, new Calls(1, 1, 1, 0, new Answer(200, false)))).isEqualTo(StepVerdict.DONE);
		assertThat(judge(null, new Calls(0, 0, 0, 0, null))).isEqualTo(StepVerdict.DONE);
		assertThat(judge(null, new Calls(2, 1, 2, 1, new Answer(200, false)))).isEqualTo(StepVerdict.UNKNOWN);
	}

	@ParameterizedTest
	@ValueSource(strings = { "in-progress", "response-not-kept", "saga-halted", "caller-required", "token-refused" })
	void isUnknownAfterAProblemThatSaysNothingOfTheRequest(String problem) {
		Answer answer = new Answer(409, true, Evidence.NONE, false, problem, true, false);
		assertThat(StepVerdict.ofAction(failed(answer, true))).isEqualTo(StepVerdict.UNKNOWN);
		assertThat(StepVerdict.ofUndo(failed(answer, false))).isEqualTo(StepVerdict.UNKNOWN);
	}

	@ParameterizedTest
	@ValueSource(strings = { "key-reused", "action-unknown" })
	void needsAnOperatorAfterAProblemThatNoAttemptSolves(String problem) {
		Answer answer = new Answer(422, false, Evidence.MISSING, false, problem, false, false);
		assertThat(StepVerdict.ofAction(failed(answer, false))).isEqualTo(StepVerdict.HALT);
		assertThat(StepVerdict.ofUndo(failed(answer, false))).isEqualTo(StepVerdict.HALT);
	}

	@Test
	void takesAPageForNoAnswerOfTheServiceToAnUndo() {
		Answer page = new Answer(404, false, Evidence.NONE, true, null, true, false);
		assertThat(StepVerdict.ofUndo(failed(page, true))).isEqualTo(StepVerdict.UNKNOWN);
		assertThat(StepVerdict.ofUndo(failed(page, false))).isEqualTo(StepVerdict.UNKNOWN);
		Answer refused = new Answer(402, false, Evidence.NONE, true, null, true, false);
		assertThat(StepVerdict.ofAction(failed(refused, false))).isEqualTo(StepVerdict.UNKNOWN);
	}

	@Test
	void believesAStatementOfTheApplicationWithoutAnObservedCall() {
		StepRefusedException stated = new StepRefusedException("declined");
		assertThat(judge(stated, new Calls(0, 0, 0, 0, null))).isEqualTo(StepVerdict.REFUSED);
		assertThat(judge(stated, new Calls(1, 1, 1, 1, null))).isEqualTo(StepVerdict.UNKNOWN);
	}

	/**
	 * After a refusal, an operator's retry would have another key.
	 */
	@Test
	void needsAnOperatorAfterAStatementOnAnUndoThatMayHaveHadAnEffect() {
		Calls unobserved = new Calls(0, 0, 0, 0, null);
		for (boolean first : new boolean[] { true, false }) {
			Attempt attempt = new Attempt(new StepRefusedException("no"), null, unobserved, first, RULES, false, false);
			assertThat(StepVerdict.ofAction(attempt)).isEqualTo(StepVerdict.REFUSED);
			assertThat(StepVerdict.ofUndo(attempt)).isEqualTo(first ? StepVerdict.REFUSED : StepVerdict.HALT);
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			# status | first | honours | action  | undo
			  402    | true  | false   | REFUSED | REFUSED
			  200    | true  | false   | REFUSED | REFUSED
			  404    | false | false   | UNKNOWN | UNKNOWN
			  404    | false | true    | REFUSED | UNKNOWN
			  409    | true  | true    | UNKNOWN | UNKNOWN
			  422    | false | true    | UNKNOWN | UNKNOWN
			  429    | true  | false   | UNKNOWN | UNKNOWN
			  503    | true  | false   | UNKNOWN | UNKNOWN
			""")
	void believesAStatementOfTheApplicationAsItsResponse(int status, boolean first, boolean honours, StepVerdict action,
			StepVerdict undo) {
		Answer answer = new Answer(status, false, Evidence.NONE, false, null, honours, false);
		Attempt attempt = new Attempt(new StepRefusedException("declined"), null,
				new Calls(1, 1, 1, (status == 200) ? 0 : 1, answer), first, RULES, true, false);
		assertThat(StepVerdict.ofAction(attempt)).isEqualTo(action);
		assertThat(StepVerdict.ofUndo(attempt)).isEqualTo(undo);
	}

	@Test
	void saysNothingOfAnEarlierCallIfItMakesNone() {
		Calls none = new Calls(0, 0, 0, 0, null);
		StepRefusedException stated = new StepRefusedException("no");
		assertThat(StepVerdict.ofAction(new Attempt(stated, null, none, false, RULES, false, true)))
			.isEqualTo(StepVerdict.UNKNOWN);
		assertThat(StepVerdict.ofAction(new Attempt(stated, null, none, false, RULES, false, false)))
			.isEqualTo(StepVerdict.REFUSED);
	}

	@Test
	void believesAStatementOfTheApplicationAfterOtherCallsThatAreDone() {
		StepRefusedException stated = new StepRefusedException("declined");
		assertThat(judge(stated, new Calls(2, 1, 2, 0, new Answer(200, false)))).isEqualTo(StepVerdict.REFUSED);
		assertThat(judge(stated, new Calls(2, 1, 2, 1, new Answer(402, false)))).isEqualTo(StepVerdict.UNKNOWN);
		assertThat(judge(stated, new Calls(2, 1, 3, 0, new Answer(200, false)))).isEqualTo(StepVerdict.UNKNOWN);
		Calls lookUps = new Calls(2, 0, 3, 0, new Answer(404, false));
		assertThat(StepVerdict.ofAction(new Attempt(stated, null, lookUps, true, RULES, false, false)))
			.isEqualTo(StepVerdict.REFUSED);
	}

	@ParameterizedTest
	@CsvSource({ "402, REFUSED", "200, REFUSED", "422, UNKNOWN", "404, REFUSED", "503, UNKNOWN", "302, UNKNOWN",
			"401, UNKNOWN" })
	void believesANamedExceptionAsItsResponse(int status, StepVerdict verdict) {
		Calls calls = new Calls(1, 1, 1, (status == 200) ? 0 : 1, new Answer(status, false));
		assertThat(judge(new IllegalArgumentException(new Declined()), calls)).isEqualTo(verdict);
		assertThat(StepVerdict.ofAction(new Attempt(new Declined(), null, calls, false, RULES, true, false)))
			.isEqualTo(StepVerdict.UNKNOWN);
		assertThat(judge(this.failure, calls)).as("another exception").isEqualTo(StepVerdict.UNKNOWN);
	}

	@Test
	void believesANamedExceptionOfAClientThatIsNotObserved() {
		assertThat(judge(new Declined(), new Calls(0, 0, 0, 0, null))).isEqualTo(StepVerdict.REFUSED);
		assertThat(judge(new Declined(), new Calls(1, 1, 1, 1, null))).isEqualTo(StepVerdict.UNKNOWN);
		assertThat(judge(new Declined(), new Calls(2, 1, 2, 1, new Answer(402, false)))).isEqualTo(StepVerdict.UNKNOWN);
	}

	@ParameterizedTest
	@EnumSource(Evidence.class)
	void isUnknownWithoutTheExceptionOfTheResponse(Evidence evidence) {
		Answer answer = new Answer(402, true, evidence, false, null, true, false);
		Calls calls = new Calls(1, 1, 1, 1, answer);
		for (Integer status : new Integer[] { null, 404 }) {
			assertThat(StepVerdict.ofAction(new Attempt(this.failure, status, calls, true, RULES, true, false)))
				.isEqualTo(StepVerdict.UNKNOWN);
		}
	}

	@Test
	void isUnknownAfterAnotherCall() {
		for (Calls calls : new Calls[] { new Calls(2, 1, 2, 1, new Answer(402, true)), new Calls(0, 0, 0, 0, null) }) {
			assertThat(StepVerdict.ofAction(new Attempt(this.failure, 402, calls, true, RULES, true, false)))
				.isEqualTo(StepVerdict.UNKNOWN);
		}
	}

	@Test
	void isUnknownAfterARetryWithoutTheWordOfTheService() {
		Calls retried = new Calls(1, 1, 2, 1, new Answer(404, false));
		assertThat(StepVerdict.ofAction(new Attempt(this.failure, 404, retried, true, RULES, true, false)))
			.isEqualTo(StepVerdict.UNKNOWN);
		Calls replayed = new Calls(1, 1, 2, 1, new Answer(404, true));
		assertThat(StepVerdict.ofAction(new Attempt(this.failure, 404, replayed, true, RULES, true, false)))
			.isEqualTo(StepVerdict.REFUSED);
	}

	@Test
	void endsWithCausesThatAreACircle() {
		Exception one = new Exception();
		Exception other = new Exception(one);
		one.initCause(other);
		assertThat(judge(one, new Calls(1, 1, 1, 1, new Answer(402, false)))).isEqualTo(StepVerdict.UNKNOWN);
	}

	private Attempt failed(Answer answer, boolean first) {
		return new Attempt(this.failure, answer.status(), new Calls(1, 1, 1, 1, answer), first, RULES, true, false);
	}

	private static StepVerdict judge(@Nullable Throwable failure, Calls calls) {
		return StepVerdict.ofAction(new Attempt(failure, null, calls, true, RULES, true, false));
	}

	private static final class Declined extends RuntimeException {

	}

}
