package dev.idempotent.saga.crash;

import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.ServiceResponse;
import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import dev.idempotent.idempotency.client.PropagationTargets;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaObserver;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.SagaWaitingException;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.SignalResult;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.crash.OrchestratorApplication.Checkout.Receipt;
import dev.idempotent.saga.crash.ChildApplication.Command;
import dev.idempotent.saga.crash.ChildApplication.Effects;
import dev.idempotent.saga.crash.ChildApplication.HaltPoint;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

/**
 * The service that has the sagas.
 */
@Configuration(proxyBeanMethods = false)
@Import({ ChildApplication.class, OrchestratorApplication.Checkout.class, OrchestratorApplication.Orders.class })
class OrchestratorApplication {

	static final Duration READ_TIMEOUT = Duration.ofMillis(1500);

	/**
	 * This client does not repeat requests by itself.
	 */
	@Bean
	RestClient participant(@Value("${crash.participant}") String url) {
		JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(
				HttpClient.newBuilder().version(Version.HTTP_1_1).connectTimeout(READ_TIMEOUT).build());
		requests.setReadTimeout(READ_TIMEOUT);
		return RestClient.builder()
			.baseUrl(url)
			.requestFactory(requests)
			.requestInterceptor(
					new IdempotencyKeyInterceptor(PropagationTargets.of(Map.of("participant", List.of("127.0.0.1")))))
			.build();
	}

	@Bean
	SagaObserver haltingObserver() {
		return new SagaObserver() {

			@Override
			public void ended(String saga, SagaStatus status, Duration took) {
				HaltPoint.pass("after-" + status);
			}

			@Override
			public void called(String saga, String step, @Nullable StepState state, Duration took) {
				HaltPoint.pass("called-" + step + "-" + state);
			}

			@Override
			public void takenOver(String saga) {
				HaltPoint.pass("taken-over");
			}

		};
	}

	@RestController
	static class Orders {

		private final Checkout checkout;

		private final Sagas sagas;

		private final TransactionOperations transactions;

		private final Effects effects;

		Orders(Checkout checkout, Sagas sagas, TransactionOperations transactions, Effects effects) {
			this.checkout = checkout;
			this.sagas = sagas;
			this.transactions = transactions;
			this.effects = effects;
		}

		@PostMapping("/sagas")
		ResponseEntity<String> place(@RequestBody Command command) {
			try {
				Receipt receipt = this.checkout.place(command);
				return ResponseEntity.ok(SagaStatus.COMPLETED + " " + receipt.charge());
			}
			catch (SagaCompensatedException ex) {
				return ResponseEntity.ok(SagaStatus.COMPENSATED.name());
			}
			catch (SagaHaltedException ex) {
				return ResponseEntity.ok(SagaStatus.HALTED.name());
			}
			catch (SagaWaitingException ex) {
				return ResponseEntity.accepted().body(ex.waitsFor());
			}
			catch (RuntimeException ex) {
				return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).body(ex.getClass().getName());
			}
		}

		@PostMapping("/started-sagas")
		ResponseEntity<String> start(@RequestBody Command command) {
			return ResponseEntity.accepted().body(this.transactions.execute((status) -> {
				IdempotencyKey id = this.sagas.start(() -> this.checkout.place(command));
				HaltPoint.passInTransaction("start");
				return id.digest();
			}));
		}

		@PostMapping("/signals")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		String signal(@RequestBody Message message) {
			SignalResult result = this.sagas.signal(this.sagas.idOf(Checkout.NAME, message.saga()), message.name(),
					message.value());
			this.effects.add(message.name() + " " + result, message.saga(), message.value());
			HaltPoint.passInTransaction("signal");
			return result.name();
		}

		@PostMapping("/cancellations")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		String cancel(@RequestBody Message message) {
			String told = this.sagas.cancel(this.sagas.idOf(Checkout.NAME, message.saga()), "changed her mind")
				.map(Enum::name)
				.orElse("none");
			this.effects.add("told " + told, message.saga(), "");
			HaltPoint.passInTransaction("cancel");
			return told;
		}

		@GetMapping("/sagas/{id}")
		ResponseEntity<String> find(@PathVariable String id) {
			return ResponseEntity.of(this.sagas.find(new IdempotencyKey(id)).map(SagaSnapshot::status).map(Enum::name));
		}

	}

	/**
	 * A signal or a cancellation.
	 *
	 * @param saga the key of the saga
	 * @param name the name of the signal
	 * @param value its value
	 */
	record Message(String saga, String name, String value) {
	}

	/**
	 * A saga with a step of each kind, and with waits of each kind.
	 */
	static class Checkout {

		static final String NAME = "checkout";

		/**
		 * Signals.
		 */
		static final String PAID = "paid";

		static final String APPROVED = "approved";

		private static final Duration PATIENCE = Duration.ofSeconds(4);

		private static final Duration IMPATIENCE = Duration.ofMillis(500);

		private final SagaSteps saga;

		private final Effects effects;

		private final RestClient participant;

		Checkout(SagaSteps saga, Effects effects, RestClient participant) {
			this.saga = saga;
			this.effects = effects;
			this.participant = participant;
		}

		@Saga(name = NAME, key = "#command.id", timeout = "${crash.timeout}")
		public Receipt place(Command command) {
			this.saga.step("order")
				.compensate(() -> this.effects.add("reject", command.id(), ""))
				.runInTransaction(() -> {
					this.effects.add("order", command.id(), "");
					if (command.refuses("order")) {
						throw new StepRefusedException("not for sale");
					}
				});
			if (command.waits()) {
				awaitPayment(command);
			}
			this.saga.step("hold").cancel(() -> call("release", command)).run(() -> call("hold", command));
			String charge = this.saga.step("charge", String.class)
				.provenBy(ServiceResponse::hasReceipt)
				.compensate((id) -> call("refund", command.withRef(id)))
				.run(() -> call("charge", command));
			if (command.waits()) {
				awaitApproval(command);
			}
			if (command.plan().equals(Command.THROWS)) {
				throw new IllegalStateException("Not a transient failure");
			}
			this.saga.step("notify").provenBy(ServiceResponse::hasReceipt).run(() -> call("notify", command));
			HaltPoint.pass("before-end");
			return new Receipt(command.id(), charge);
		}

		/**
		 * What the waits have returned is recorded with a step, which is not undone.
		 */
		private void awaitPayment(Command command) {
			HaltPoint.pass("before-wait");
			String paid = this.saga.await(PAID, String.class)
				.within(command.plan().equals(Command.WAITS) ? PATIENCE : IMPATIENCE);
			HaltPoint.pass("after-wait");
			this.saga.step("receive").runInTransaction(() -> this.effects.add("received", command.id(), paid));
		}

		private void awaitApproval(Command command) {
			boolean approved = this.saga.await(APPROVED).arrivesWithin(IMPATIENCE);
			this.saga.sleep("cooling-off", Duration.ofMillis(200));
			HaltPoint.pass("after-sleep");
			this.saga.step("decide")
				.runInTransaction(() -> this.effects.add("decided", command.id(), String.valueOf(approved)));
		}

		private String call(String path, Command command) {
			HaltPoint.pass("before-" + path);
			String answer = this.participant.post()
				.uri("/" + path)
				.contentType(MediaType.APPLICATION_JSON)
				.body(command)
				.retrieve()
				.body(String.class);
			HaltPoint.pass("after-" + path);
			// The cancel of an action that never arrived has no content.
			return Objects.requireNonNullElse(answer, "");
		}

		/**
		 * The result of the saga.
		 *
		 * @param id its key
		 * @param charge the charge
		 */
		record Receipt(String id, String charge) {
		}

	}

}
