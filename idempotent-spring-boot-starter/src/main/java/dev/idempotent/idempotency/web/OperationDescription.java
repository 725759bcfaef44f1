package dev.idempotent.idempotency.web;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.web.IdempotentOperations.Target;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;

/**
 * What the clients of an operation need to know.
 */
public final class OperationDescription {

	/**
	 * The response header of a replay.
	 */
	public static final String REPLAYED_HEADER = CapturedResponse.REPLAYED;

	private static final int SERVER_ERROR = 500;

	private final List<Header> headers;

	private final @Nullable String formField;

	private final List<KnownProblem> problems;

	private OperationDescription(List<Header> headers, @Nullable String formField, List<KnownProblem> problems) {
		this.headers = headers;
		this.formField = formField;
		this.problems = problems;
	}

	/**
	 * Describes the operation of a mapping.
	 * @param operations the operations
	 * @param settings the settings that they are described with
	 * @param handler the handler of the mapping, or {@code null} for one that is not a
	 * method
	 * @param method its HTTP method, such as {@code POST}
	 * @param pattern its path pattern
	 * @return the description, or {@code null} if requests to it need no key
	 */
	public static @Nullable OperationDescription of(IdempotentOperations operations, IdempotencyWebSettings settings,
			@Nullable HandlerMethod handler, String method, String pattern) {
		Target target = operations.find(handler, RequestMethod.valueOf(method), PathContainer.parsePath(pattern));
		if (target == null) {
			return null;
		}
		IdempotentOperation operation = target.operation();
		ProblemTypes types = new ProblemTypes(settings.problemBaseUri());
		return new OperationDescription(headers(target, settings.header()),
				(operation.keyExpression() == null && operation.keySource() == KeySource.TOKEN) ? RequestTokens.FIELD
						: null,
				problems(target, operations.requiresCaller(target)).stream()
					.filter((problem) -> problem.status() != SERVER_ERROR)
					.map((problem) -> new KnownProblem(problem.slug(), problem.status(), problem.title(),
							types.of(problem), problem.isRetryable()))
					.toList());
	}

	/**
	 * The headers that it takes.
	 * @return request headers
	 */
	public List<Header> headers() {
		return this.headers;
	}

	/**
	 * The form field that can carry its key instead.
	 * @return {@code null} if there is none
	 */
	public @Nullable String formField() {
		return this.formField;
	}

	/**
	 * The problems that it may respond with, except those with status 500.
	 * @return problems
	 */
	public List<KnownProblem> problems() {
		return this.problems;
	}

	private static List<Header> headers(Target target, String header) {
		List<Header> headers = new ArrayList<>();
		if (target.operation().keyExpression() == null) {
			switch (target.operation().keySource()) {
				case HEADER -> headers.add(new Header(header, true, KeyHeader.MAX_LENGTH,
						"Identifies the operation: one unique value per operation, such as a UUID, and the same value "
								+ "when it is retried."));
				case HEADER_OR_FINGERPRINT -> headers.add(new Header(header, false, KeyHeader.MAX_LENGTH,
						"Identifies the operation: one unique value per operation, such as a UUID, and the same value "
								+ "when it is retried. Without it, an equal request counts as a retry."));
				case TOKEN -> headers.add(new Header(header, false, KeyHeader.MAX_LENGTH,
						"The one-time token of the page, unless the form field " + RequestTokens.FIELD + " has it."));
				case FINGERPRINT -> {
				}
			}
		}
		if (target.cancelled() != null) {
			headers.add(new Header(Cancellation.HEADER, true, Cancellation.MAX_LENGTH,
					"The idempotency key of the request to cancel, and what is known of its outcome, such as "
							+ "\"key\"; outcome=unknown."));
		}
		return headers;
	}

	private static Set<Problem> problems(Target target, boolean callerRequired) {
		IdempotentOperation operation = target.operation();
		boolean derived = operation.keyExpression() != null;
		boolean sent = !derived && operation.keySource() != KeySource.FINGERPRINT;
		Set<Problem> problems = EnumSet.of(Problem.REQUEST_MALFORMED, Problem.REQUEST_TOO_LARGE, Problem.IN_PROGRESS,
				Problem.RESPONSE_NOT_KEPT, Problem.OVERLOADED, Problem.STORE_UNREACHABLE);
		if (sent) {
			problems.add(Problem.KEY_MALFORMED);
		}
		if (sent || derived) {
			problems.add(Problem.KEY_MISSING);
			if (!operation.fingerprinter().ignoresEverything() || target.cancelled() != null) {
				problems.add(Problem.KEY_REUSED);
			}
		}
		if (sent && operation.keySource() == KeySource.TOKEN) {
			problems.addAll(Set.of(Problem.TOKEN_REFUSED, Problem.TOKEN_EXPIRED));
		}
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

	/**
	 * A request header of an operation.
	 *
	 * @param name its name
	 * @param required whether a request without it is refused
	 * @param maxLength the most characters that it can have; at least one
	 * @param text what it means
	 */
	public record Header(String name, boolean required, int maxLength, String text) {

	}

	/**
	 * A problem that an operation may respond with.
	 *
	 * @param name the end of its type, such as {@code in-progress}
	 * @param status its HTTP status
	 * @param title its title
	 * @param type its type
	 * @param retryable whether the same request can succeed later
	 */
	public record KnownProblem(String name, int status, String title, String type, boolean retryable) {

	}

}
