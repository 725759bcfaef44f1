package dev.idempotent.idempotency.web;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.web.OperationTable.Target;
import org.jspecify.annotations.Nullable;

/**
 * What the clients of an operation need to know.
 *
 * @param headers the headers that it takes
 * @param formField the form field that can carry its key instead, or {@code null}
 * @param problems the problems that it may respond with, except those with status 500
 */
public record OperationDescription(List<RequestHeaderDescription> headers, @Nullable String formField,
		List<ProblemDescription> problems) {

	/**
	 * The response header of a replay.
	 */
	public static final String REPLAYED_HEADER = CapturedResponse.REPLAYED;

	private static final int SERVER_ERROR = 500;

	static OperationDescription of(Target target, boolean callerRequired, String header, ProblemTypes types) {
		IdempotentOperation operation = target.operation();
		return new OperationDescription(headers(target, header),
				(operation.keyExpression() == null && operation.keySource() == KeySource.TOKEN) ? RequestTokens.FIELD
						: null,
				problems(target, callerRequired).stream()
					.filter((problem) -> problem.status() != SERVER_ERROR)
					.map((problem) -> new ProblemDescription(problem.slug(), problem.status(), problem.title(),
							types.of(problem), problem.isRetryable()))
					.toList());
	}

	private static List<RequestHeaderDescription> headers(Target target, String header) {
		List<RequestHeaderDescription> headers = new ArrayList<>();
		if (target.operation().keyExpression() == null) {
			switch (target.operation().keySource()) {
				case HEADER -> headers.add(new RequestHeaderDescription(header, true, KeyHeader.MAX_LENGTH,
						"Identifies the operation: one unique value per operation, such as a UUID, and the same value "
								+ "when it is retried."));
				case HEADER_OR_FINGERPRINT -> headers.add(new RequestHeaderDescription(header, false,
						KeyHeader.MAX_LENGTH,
						"Identifies the operation: one unique value per operation, such as a UUID, and the same value "
								+ "when it is retried. Without it, an equal request counts as a retry."));
				case TOKEN -> headers.add(new RequestHeaderDescription(header, false, KeyHeader.MAX_LENGTH,
						"The one-time token of the page, unless the form field " + RequestTokens.FIELD + " has it."));
				case FINGERPRINT -> {
				}
			}
		}
		if (target.cancelled() != null) {
			headers.add(new RequestHeaderDescription(CancelsHeader.NAME, true, CancelsHeader.MAX_LENGTH,
					"The idempotency key of the request to cancel, and what is known of its outcome, such as "
							+ "\"key\"; outcome=unknown."));
		}
		return headers;
	}

	private static Set<Problem> problems(Target target, boolean callerRequired) {
		IdempotentOperation operation = target.operation();
		Set<Problem> problems = EnumSet.of(Problem.REQUEST_MALFORMED, Problem.REQUEST_TOO_LARGE, Problem.IN_PROGRESS,
				Problem.RESPONSE_NOT_KEPT, Problem.OVERLOADED, Problem.STORE_UNREACHABLE);
		problems.addAll(keyProblems(target));
		if (callerRequired) {
			problems.add(Problem.CALLER_REQUIRED);
		}
		if (target.paired() && target.cancelled() == null) {
			problems.add(Problem.CANCELLED);
		}
		if (operation.transactions() != null) {
			problems.add(Problem.OUTCOME_UNKNOWN);
		}
		return problems;
	}

	private static Set<Problem> keyProblems(Target target) {
		IdempotentOperation operation = target.operation();
		boolean derived = operation.keyExpression() != null;
		Set<Problem> problems = EnumSet.noneOf(Problem.class);
		if (derived || operation.keySource() != KeySource.FINGERPRINT) {
			problems.add(Problem.KEY_MISSING);
			if (!operation.exclusions().isEverything() || target.cancelled() != null) {
				problems.add(Problem.KEY_REUSED);
			}
		}
		if (!derived && operation.keySource() != KeySource.FINGERPRINT) {
			problems.add(Problem.KEY_MALFORMED);
		}
		if (!derived && operation.keySource() == KeySource.TOKEN) {
			problems.addAll(Set.of(Problem.TOKEN_REFUSED, Problem.TOKEN_EXPIRED));
		}
		return problems;
	}

}
