package dev.idempotent.documentation.example;

import java.util.UUID;

import dev.idempotent.autoconfigure.test.AutoConfigureIdempotency;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.test.FakeParticipant;
import dev.idempotent.test.FakeParticipant.Fault;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@SpringBootTest(properties = { "spring.http.clients.read-timeout=1s", "spring.http.clients.redirects=dont-follow" })
@AutoConfigureIdempotency
@Import(Bookings.class)
class BookingsTests {

	@AutoClose
	static final FakeParticipant seats = new FakeParticipant();

	@AutoClose
	static final FakeParticipant payments = FakeParticipant.withoutReceipts();

	@Autowired
	Bookings bookings;

	@DynamicPropertySource
	static void services(DynamicPropertyRegistry properties) {
		properties.add("shop.seats", seats::url);
		properties.add("shop.payments", payments::url);
	}

	@BeforeEach
	void acceptEachCard() {
		seats.reset();
		payments.reset();
		payments.answer("/charges", 201, "{\"id\":\"ch_1\"}");
	}

	@ParameterizedTest
	@EnumSource
	void chargesOnceForOneSeatWhateverTheGatewaysDo(Fault fault) {
		seats.fail("/holds", fault);
		payments.fail("/charges", fault);
		this.bookings.book(UUID.randomUUID().toString());
		assertThat(seats.effects()).containsExactly("/holds");
		assertThat(payments.effects()).containsExactly("/charges");
	}

	@ParameterizedTest
	@EnumSource
	void releasesTheSeatOfACardThatIsDeclined(Fault fault) {
		seats.fail("/releases", fault);
		payments.answer("/charges", 402, "{\"error\":\"card_declined\"}");
		String booking = UUID.randomUUID().toString();
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> this.bookings.book(booking));
		assertThat(seats.effects()).containsExactly("/holds", "/releases");
		assertThat(payments.effects()).isEmpty();
	}

}
