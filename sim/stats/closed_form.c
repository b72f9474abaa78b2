/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/stats/closed_form.h"
#include <stddef.h>
#include <string.h>

const struct closed_form closed_forms[] = {
    {"selective_repeat", "1-p", closed_form_selective_repeat},
    {"go_back_n", "(1-p)/(1-p+pW)", closed_form_go_back_n},
    {"nak_then_timeout", "1/(1+p(W-1)+p^2 RTO/t_packet)", closed_form_nak_then_timeout},
    {NULL, NULL, NULL},
};

const struct closed_form *closed_form_find(const char *name)
{
    for (const struct closed_form *form = closed_forms; form->name; form++)
        if (strcmp(form->name, name) == 0)
            return form;
    return NULL;
}

double closed_form_selective_repeat(const struct closed_form_input *input, double p)
{
    (void)input;
    return 1 - p;
}

double closed_form_go_back_n(const struct closed_form_input *input, double p)
{
    return (1 - p) / (1 - p + p * input->window_packets);
}

double closed_form_nak_then_timeout(const struct closed_form_input *input, double p)
{
    return 1 / (1 + p * (input->window_packets - 1) + p * p * input->rto_ps / input->packet_ps);
}
