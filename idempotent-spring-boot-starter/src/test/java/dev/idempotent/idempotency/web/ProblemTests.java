package dev.idempotent.idempotency.web;

import java.util.Arrays;

import dev.idempotent.testing.DocumentedProblem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

class ProblemTests {

	@Test
	void isDescribedByTheDocumentation() {
		assertThat(Arrays.stream(Problem.values())
			.map((problem) -> new DocumentedProblem(problem.slug(), problem.status(), problem.isRetryable())))
			.containsExactlyInAnyOrderElementsOf(DocumentedProblem.all());
	}

	@ParameterizedTest
	@EnumSource(Problem.class)
	void leadsToNoSecondOperation(Problem problem) {
		DocumentedProblem.assertLeadsToNoSecondOperation(problem.detail());
	}

	@ParameterizedTest
	@EnumSource(value = Problem.class, names = { "KEY_REUSED", "RESPONSE_NOT_KEPT", "TOKEN_REFUSED", "TOKEN_EXPIRED" })
	void saysHowToSeeWhatAnEarlierRequestHasDone(Problem problem) {
		assertThat(problem.detail()).containsIgnoringCase("look it");
	}

}
