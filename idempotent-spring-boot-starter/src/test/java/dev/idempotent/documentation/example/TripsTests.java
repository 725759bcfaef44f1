package dev.idempotent.documentation.example;

import java.util.UUID;

import dev.idempotent.autoconfigure.test.AutoConfigureIdempotency;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.SignalResult;
import dev.idempotent.test.SagaWaits;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest
@AutoConfigureIdempotency
@Import(Trips.class)
class TripsTests {

	@Autowired
	Sagas sagas;

	@Autowired
	SagaWaits waits;

	@Autowired
	Trips trips;

	@Test
	void confirmsATripThatIsPaidAfterADay() {
		String trip = UUID.randomUUID().toString();
		IdempotencyKey id = this.sagas.start(() -> this.trips.order(trip));
		this.waits.awaitWait(id, "paid");
		assertThat(this.sagas.signal(id, "paid", 100)).isEqualTo(SignalResult.ACCEPTED);
		this.waits.awaitWait(id, "cooling-off");
		this.waits.expire(id);
		assertThat(this.waits.awaitEnd(id).status()).isEqualTo(SagaStatus.COMPLETED);
		assertThat(this.trips.order(trip)).isEqualTo(trip + " for 100");
	}

	@Test
	void cancelsATripThatIsNotPaidWithinThreeDays() {
		IdempotencyKey id = this.sagas.start(() -> this.trips.order(UUID.randomUUID().toString()));
		this.waits.awaitWait(id, "paid");
		this.waits.expire(id);
		assertThat(this.waits.awaitEnd(id).status()).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(this.sagas.signal(id, "paid", 100)).isEqualTo(SignalResult.TOO_LATE);
	}

}
