package dev.idempotent.sample.form;

import java.time.Duration;
import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.OnPending;
import dev.idempotent.sample.order.Order;
import dev.idempotent.sample.order.Orders;
import dev.idempotent.sample.order.PlaceOrder;
import dev.idempotent.token.OneTimeTokens;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.validation.Valid;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.validation.BindingResult;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.servlet.ModelAndView;

@Controller
@RequestMapping("/forms/orders")
class OrderFormController {

	private final OneTimeTokens tokens;

	private final Orders orders;

	OrderFormController(OneTimeTokens tokens, Orders orders) {
		this.tokens = tokens;
		this.orders = orders;
	}

	/**
	 * Issues a token for each rendering, so that a form with errors has a new one. The
	 * shop has no login: with one, only the user who has loaded the form may send it.
	 */
	@ModelAttribute("token")
	String token(HttpServletResponse response) {
		// A shared cache would give one token to several users. With no-store, the
		// browser
		// could load the form again for its back button, with a new token.
		response.setHeader(HttpHeaders.CACHE_CONTROL,
				CacheControl.maxAge(Duration.ZERO).cachePrivate().getHeaderValue());
		return this.tokens.issue("place-order", null);
	}

	@GetMapping("/new")
	String form(Model model) {
		model.addAttribute("order", new PlaceOrder("ada", "Coffee coupon", 1, null));
		return "order-form";
	}

	@PostMapping
	@Idempotent(from = KeySource.TOKEN, name = "place-order", guarantee = Guarantee.TRANSACTION,
			onPending = OnPending.WAIT)
	ModelAndView place(@Valid @ModelAttribute("order") PlaceOrder form, BindingResult errors) {
		if (errors.hasErrors()) {
			return new ModelAndView("order-form", HttpStatus.BAD_REQUEST);
		}
		Order order = this.orders.place(form);
		return new ModelAndView("redirect:/forms/orders/" + order.orderId(), HttpStatus.SEE_OTHER);
	}

	@GetMapping("/{orderId}")
	String placed(@PathVariable UUID orderId, Model model) {
		Order order = this.orders.get(orderId);
		model.addAttribute("placed", order);
		model.addAttribute("orders", this.orders.placedBy(order.userId()));
		return "order-placed";
	}

}
