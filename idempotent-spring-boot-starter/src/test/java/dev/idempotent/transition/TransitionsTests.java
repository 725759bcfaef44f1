package dev.idempotent.transition;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link Transitions}.
 */
class TransitionsTests {

	private final Transitions<Light> lights = Transitions.of(Light.class)
		.allow(Light.RED, Light.GREEN, Light.OFF)
		.allow(Light.GREEN, Light.YELLOW)
		.allow(Light.YELLOW, Light.RED)
		.allow(Light.YELLOW, Light.OFF)
		.build();

	@Test
	void returnTheNextStateOfAnEdge() {
		assertThat(this.lights.require(Light.RED, Light.GREEN)).isSameAs(Light.GREEN);
		assertThat(this.lights.require(Light.YELLOW, Light.RED)).isSameAs(Light.RED);
		assertThat(this.lights.require(Light.YELLOW, Light.OFF)).isSameAs(Light.OFF);
	}

	@Test
	void refuseWhatIsNotAnEdge() {
		assertThatExceptionOfType(IllegalTransitionException.class)
			.isThrownBy(() -> this.lights.require(Light.GREEN, Light.RED))
			.withMessage("Light does not allow a transition from GREEN to RED: only YELLOW may follow")
			.satisfies((ex) -> assertThat(ex.getFrom()).isSameAs(Light.GREEN))
			.satisfies((ex) -> assertThat(ex.getTo()).isSameAs(Light.RED));
		assertThatExceptionOfType(IllegalTransitionException.class)
			.isThrownBy(() -> this.lights.require(Light.OFF, Light.RED))
			.withMessage("Light does not allow a transition from OFF to RED: OFF is final");
		assertThatExceptionOfType(IllegalTransitionException.class)
			.isThrownBy(() -> this.lights.require(Light.RED, Light.RED));
	}

	@Test
	void listTheStatesThatMayFollow() {
		assertThat(this.lights.targetsOf(Light.RED)).containsExactlyInAnyOrder(Light.GREEN, Light.OFF);
		assertThat(this.lights.targetsOf(Light.OFF)).isEmpty();
	}

	@Test
	void areNotChangedByTheirBuilder() {
		Transitions.Builder<Light> builder = Transitions.of(Light.class)
			.allow(Light.RED, Light.GREEN)
			.allow(Light.YELLOW, Light.OFF);
		Transitions<Light> built = builder.build();
		builder.allow(Light.RED, Light.OFF);
		assertThat(built.targetsOf(Light.RED)).containsExactly(Light.GREEN);
	}

	@Test
	void includeEachStateInATransition() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Transitions.of(Light.class).allow(Light.RED, Light.GREEN).build())
			.withMessage(
					"No transition of dev.idempotent.transition.TransitionsTests$Light leaves or enters [YELLOW, OFF]: "
							+ "allow one for each, or remove the constant");
	}

	@Test
	void leadToAnotherState() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Transitions.of(Light.class).allow(Light.RED, Light.GREEN, Light.RED))
			.withMessage("Light.RED cannot follow itself: a transition leads to another state");
	}

	private enum Light {

		RED, GREEN, YELLOW {
			@Override
			public String toString() {
				return "amber";
			}
		},

		OFF

	}

}
