package dev.idempotent.autoconfigure.operations;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.run.SagaAdministration;
import dev.idempotent.saga.run.SagaAdministration.Counts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.dao.DataAccessException;

/**
 * The actuator's endpoint {@code saga}. Shows neither arguments nor results.
 */
@WebEndpoint(id = "saga")
@RegisterReflectionForBinding({ SagaEndpoint.Overview.class, SagaAnswer.class,
		RefusedOperationException.Problem.class })
final class SagaEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(SagaEndpoint.class);

	private final SagaAdministration sagas;

	private final SagaOperator operator;

	private final Supplier<Counts> counts;

	private final Supplier<Instance> instance;

	/**
	 * Creates the endpoint.
	 * @param counts counts the sagas in the database
	 * @param instance supplies the state of this instance
	 */
	SagaEndpoint(SagaAdministration sagas, SagaOperator operator, Supplier<Counts> counts,
			Supplier<Instance> instance) {
		this.sagas = sagas;
		this.operator = operator;
		this.counts = counts;
		this.instance = instance;
	}

	@ReadOperation
	WebEndpointResponse<?> summary() {
		return answer(() -> new Overview(Numbers.of(this.counts.get()), this.instance.get()));
	}

	@ReadOperation
	WebEndpointResponse<?> read(@Selector String part, @Nullable String status, @Nullable String name,
			@Nullable String limit) {
		return answer(() -> part.equals("list") ? list(status, name, limit)
				: SagaAnswer.of(this.operator.require(SagaRequest.id(part))));
	}

	@WriteOperation
	WebEndpointResponse<?> change(@Selector String id, @Selector String operation, @Nullable String step,
			@Nullable String note, SecurityContext security) {
		return answer(() -> {
			IdempotencyKey saga = SagaRequest.id(id);
			return SagaAnswer.of(switch (operation) {
				case "retry" -> {
					SagaRequest.requireNeither(step, note);
					yield this.operator.retry(saga, security);
				}
				case "skip" -> this.operator.skip(saga, SagaRequest.step(step), SagaRequest.note(note), security);
				default -> throw RefusedOperationException.invalid("There is no operation of this name",
						"POST /actuator/saga/{id}/retry or POST /actuator/saga/{id}/skip");
			});
		});
	}

	private Page list(@Nullable String status, @Nullable String name, @Nullable String limit) {
		return new Page(this.sagas
			.list(SagaRequest.status(status), OperatorParameters.stated("name", name), OperatorParameters.limit(limit))
			.stream()
			.map(SagaAnswer.Facts::of)
			.toList());
	}

	private static WebEndpointResponse<?> answer(Supplier<?> work) {
		try {
			return new WebEndpointResponse<>(work.get());
		}
		catch (RefusedOperationException ex) {
			return ex.toResponse();
		}
		catch (DataAccessException ex) {
			logger.debug("The saga endpoint could not read or change the database", ex);
			return new RefusedOperationException(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE,
					"The database failed: " + ex.getClass().getSimpleName(),
					"Check that the database is reachable and has the tables of sagas, then look the saga up "
							+ "and repeat the request if it is still needed")
				.toResponse();
		}
	}

	/**
	 * The state of sagas.
	 *
	 * @param sagas in the database, the same for all instances
	 * @param instance the instance that responds
	 */
	record Overview(Numbers sagas, Instance instance) {
	}

	/**
	 * The numbers of sagas.
	 *
	 * @param byStatus of sagas that have not ended, up to 10,000 for each status
	 * @param exact whether there are no more
	 * @param unserved how many are open and have a name that this instance has no method
	 * for
	 * @param oldestDueAge how long the oldest due saga has waited for an instance, in
	 * ISO-8601 format
	 */
	record Numbers(Map<SagaStatus, Integer> byStatus, boolean exact, int unserved, String oldestDueAge) {

		static Numbers of(Counts counts) {
			Map<SagaStatus, Integer> all = new TreeMap<>();
			List.of(SagaStatus.STARTED, SagaStatus.EXECUTING, SagaStatus.COMPENSATING, SagaStatus.HALTED)
				.forEach((status) -> all.put(status, counts.byStatus().getOrDefault(status, 0)));
			return new Numbers(all, counts.exact(), counts.unserved(), counts.oldestDue().toString());
		}

	}

	/**
	 * The state of an instance.
	 *
	 * @param running how many sagas it runs
	 * @param served the names of the sagas that it can run
	 */
	record Instance(int running, Collection<String> served) {
	}

	record Page(List<SagaAnswer.Facts> sagas) {
	}

}
